/* Counts the calls of the C library that a preloaded network stack would take, and writes the counts to the file
 * that FIXWIRE_CALLS names when the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define COUNTED(answer, name, takes, gives)                        \
    static atomic_long name##_calls;                               \
    answer name takes {                                            \
        static answer(*_Atomic next) takes;                        \
        answer(*call) takes = atomic_load(&next);                  \
        if (!call) {                                               \
            *(void **)&call = dlsym(RTLD_NEXT, #name);             \
            atomic_store(&next, call);                             \
        }                                                          \
        atomic_fetch_add(&name##_calls, 1);                        \
        return call gives;                                         \
    }

#define TO struct sockaddr *address, socklen_t *length
#define AT const struct sockaddr *address, socklen_t length

COUNTED(int, socket, (int family, int kind, int protocol), (family, kind, protocol))
COUNTED(int, bind, (int fd, AT), (fd, address, length))
COUNTED(int, listen, (int fd, int backlog), (fd, backlog))
COUNTED(int, connect, (int fd, AT), (fd, address, length))
COUNTED(int, accept, (int fd, TO), (fd, address, length))
COUNTED(int, accept4, (int fd, TO, int flags), (fd, address, length, flags))
COUNTED(int, shutdown, (int fd, int how), (fd, how))
COUNTED(int, getsockname, (int fd, TO), (fd, address, length))
COUNTED(int, getpeername, (int fd, TO), (fd, address, length))
COUNTED(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size), (fd, level, name, value, size))
COUNTED(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
        (fd, level, name, value, size))
COUNTED(ssize_t, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, recvfrom, (int fd, void *bytes, size_t size, int flags, TO),
        (fd, bytes, size, flags, address, length))
COUNTED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
COUNTED(ssize_t, send, (int fd, const void *bytes, size_t size, int flags), (fd, bytes, size, flags))
COUNTED(ssize_t, sendto, (int fd, const void *bytes, size_t size, int flags, AT),
        (fd, bytes, size, flags, address, length))
COUNTED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
COUNTED(int, epoll_ctl, (int fd, int what, int other, struct epoll_event *event), (fd, what, other, event))
COUNTED(int, epoll_wait, (int fd, struct epoll_event *events, int size, int timeout), (fd, events, size, timeout))
COUNTED(int, epoll_pwait, (int fd, struct epoll_event *events, int size, int timeout, const sigset_t *signals),
        (fd, events, size, timeout, signals))

__attribute__((destructor)) static void tell(void) {
    const char *name = getenv("FIXWIRE_CALLS");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (!file) return;
#define TELL(call) fprintf(file, "%s %ld\n", #call, atomic_load(&call##_calls));
    TELL(socket) TELL(bind) TELL(listen) TELL(connect) TELL(accept) TELL(accept4) TELL(shutdown)
    TELL(getsockname) TELL(getpeername) TELL(getsockopt) TELL(setsockopt)
    TELL(recv) TELL(recvfrom) TELL(recvmsg) TELL(send) TELL(sendto) TELL(sendmsg)
    TELL(epoll_ctl) TELL(epoll_wait) TELL(epoll_pwait)
    fclose(file);
}
