/* Lines of ours on stderr, from inside the target. */
#ifndef SSAN_TRACE_MESSAGE_H
#define SSAN_TRACE_MESSAGE_H

/* "streamsan: `text`", past stdio. Any thread. */
void message_tell(const char *text);
/* "streamsan: `name` `text`", once for each `name`, which lives as long as the process. Any thread.
 */
void message_once(const char *name, const char *text);
/* In a forked child: nobody holds the lock. */
void message_forget(void);

#endif
