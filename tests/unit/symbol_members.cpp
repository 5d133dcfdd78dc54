/* A constructor that the compiler writes: its calls are those of the initialisers. */
extern "C" void look(void);
extern "C" void members(void);

__attribute__((always_inline)) static inline int *give()
{
    look();
    __asm__ volatile("" ::: "memory");
    return nullptr;
}

struct holder {
    int *first = give();
    int count = 0;
    int *second = give();
};

void members(void)
{
    holder made;
    __asm__ volatile("" ::"r"(made.first), "r"(made.second));
}
