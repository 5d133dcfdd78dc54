/* Programs for ptx_clang.c: plain functions that run on the host and, compiled by clang, on the executor; both must
 * agree. Read as C and as CUDA. CASE(name) takes the thread's number `t` and gives 64 bits. */

struct mixed {
    float a[5];
    int k;
    double d;
    char c;
    short s[3];
};

FN int fold(struct mixed m, int depth)
{
    int sum = m.k + m.c + m.s[depth % 3];
    for (int i = 0; i < 5; i++) {
        sum += (int)m.a[i];
    }
    return depth ? sum + fold(m, depth - 1) : sum + (int)m.d;
}

FN struct mixed make_mixed(int t)
{
    struct mixed m;
    for (int i = 0; i < 5; i++) {
        m.a[i] = (float)(t * i) * 0.75f;
    }
    m.k = t * 7 - 3;
    m.d = t / 3.0;
    m.c = (char)(t * 5);
    m.s[0] = (short)t;
    m.s[1] = (short)(t * 1000);
    m.s[2] = -1;
    return m;
}

CASE(structs_by_value)
{
    return fold(make_mixed(t), t % 7);
}

FN int twice(int x)
{
    return 2 * x;
}

FN int square(int x)
{
    return x * x;
}

FN int negate(int x)
{
    return -x;
}

CASE(function_pointers)
{
    int (*const table[3])(int) = {twice, square, negate};
    int (*chosen)(int) = table[t % 3];
    return chosen(t) + table[(t / 3) % 3](t + 1);
}

CASE(switches)
{
    long long sum = 0;
    for (int i = 0; i < 20; i++) {
        switch ((t + i) % 11) {
        case 0:
            sum += 5;
            break;
        case 1:
            sum ^= t;
            break;
        case 2:
            sum <<= 1;
            break;
        case 3:
            sum -= i;
            break;
        case 4:
            sum = -sum;
            break;
        case 7:
            sum += sum / 3;
            break;
        case 8:
            continue;
        default:
            sum++;
        }
    }
    return sum;
}

CASE(local_arrays)
{
    int values[24];
    for (int i = 0; i < 24; i++) {
        values[i] = (t * 37 + i * 101) % 64;
    }
    for (int i = 1; i < 24; i++) { /* insertion sort */
        int v = values[i], k = i - 1;
        while (k >= 0 && values[k] > v) {
            values[k + 1] = values[k];
            k--;
        }
        values[k + 1] = v;
    }
    long long hash = 0;
    for (int i = 0; i < 24; i++) {
        hash = hash * 31 + values[i];
    }
    return hash;
}

CASE(wide_integers)
{
    unsigned long long x = 0x123456789abcdefULL * (unsigned)(t + 1), y = 0xfedcba987ULL + (unsigned)t;
    long long s = (long long)x;
    return (long long)(x / y + x % y) + s / (t + 7) - s % (t + 3) + (long long)((x >> (t % 64)) ^ (x << (t % 33)));
}

CASE(narrow_integers)
{
    unsigned char a = (unsigned char)(t * 3);
    signed char b = (signed char)(t * 11);
    unsigned short c = (unsigned short)(t * 40000u);
    short d = (short)(a * b);
    a = (unsigned char)(a + c);
    b = (signed char)(b - d);
    return a + 256ll * b + 65536ll * c + 7ll * d + (a > b) + 2 * (c < d);
}

CASE(floats)
{
    float f = (float)t * 0.37f - 20.0f;
    double d = f;
    int nan_count = 0;
    float z = t % 4 ? f : 0.0f / (float)(t % 4);
    nan_count += z != z;
    nan_count += 4 * !(z < 1.0f);
    f = f < 0 ? -f : f;
    d = d * 1e6 + 0.5;
    return (long long)(f * 1000.0f) + (long long)d + (int)f + (unsigned)(f * 3.0f) + nan_count;
}

CASE(early_returns)
{
    for (int i = 0; i < t; i++) {
        if ((i * i) % 97 == t % 89) {
            return i;
        }
        if (i > 200) {
            break;
        }
    }
    return -t;
}

CASE(bits)
{
    unsigned x = (unsigned)t * 2654435761u;
    return __builtin_popcount(x) + 100 * (x ? __builtin_clz(x) : 32) + 10000ll * __builtin_ctz(x | 0x80000000u) +
           (long long)(x << 7 | x >> 25);
}
