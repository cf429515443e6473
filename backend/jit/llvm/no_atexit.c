/* What is registered to run at exit by the LLVM that is linked in: nothing. A program may end while
 * a thread of ours compiles; LLVM's destructors would take its tables away from under that thread.
 * The system takes all memory back. (A shared LLVM, as some distributions want it, registers by
 * itself.)
 */

int __cxa_atexit(void (*function)(void *), void *argument, void *object);

int __cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    (void)function;
    (void)argument;
    (void)object;
    return 0;
}
