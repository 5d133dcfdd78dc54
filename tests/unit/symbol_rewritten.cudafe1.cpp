/* As nvcc hands host code to its compiler: #line says which line of the source a statement is of,
 * and columns are not the source's. These are its lines 6 and 7:



    before(); (look()); behind();
    before(); inlined(); behind();
 */
extern "C" void look(void);
extern "C" void rewritten(void);

__attribute__((always_inline)) static inline void inlined()
{
#line 6
(look()); __asm__ volatile("" ::: "memory");
}

void rewritten(void)
{
#line 7
inlined(); __asm__ volatile("" ::: "memory");
}
