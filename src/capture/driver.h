/* Functions of the CUDA driver that the program has loaded. */
#ifndef SSAN_CAPTURE_DRIVER_H
#define SSAN_CAPTURE_DRIVER_H

typedef void driver_function(void);

/* Its function of this name, to be cast to its own type; NULL where there is none. Never loads a
 * driver. Any thread, but the loader's lock is taken: look a name up once. */
driver_function *driver_find(const char *name);

#endif
