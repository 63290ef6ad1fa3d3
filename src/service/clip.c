// clip, the program that agents start for every event: it asks the service, and runs the programs that the service names.
//
//   clip NODE SCRIPT ARGUMENT...
//   clip --spawner=1
//
// If there is no service to ask, clip becomes `NODE SCRIPT ARGUMENT...`: the cold path. It does so only until the service
// says `started` and clip answers `go`. From then on nothing may run twice, so if the service is lost, clip prints the answer
// that came with `started`, which refuses whatever the event could have allowed. src/rpc/frames.ts is the other side.
//
// As a spawner, clip runs programs for a host whose own memory would make every start slow. Descriptor 3 is a socket to the
// host, and clip ends with it. src/runners/spawner/spawner.ts is the other side.

#define _GNU_SOURCE
#define _DARWIN_C_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

extern char **environ;

enum {
  PROTOCOL = 2,
  HEADER = 5,
  LOCK_FD = 3,
  HOST_FD = 3,

  // Messages to the service.
  CALL = 1,
  CHILD = 2,
  OUTPUT = 3,
  EXITED = 4,
  GONE = 5,
  ENDING = 6,
  SIGNAL = 7,
  GO = 8,
  BEGUN = 9,
  PONG = 10,

  // Messages from it.
  COLD = 65,
  STARTED = 66,
  RUN = 67,
  END = 68,
  OUT = 69,
  ANSWERED = 70,
  EXIT = 71,
  ALIVE = 72,
  PING = 73,
  RELEASE = 74,

  // Exit codes of our own, for answers that cannot be given in any other way. Agents take 2 as a refusal.
  REFUSED = 2,
  USAGE = 64,
  NOT_FOUND = 127,
};

#define MIB ((size_t)1024 * 1024)
/** With a number that is raised when an older host could misread a frame. */
#define SPAWNER "--spawner=1"

static const size_t MOST_INPUT = 4 * MIB;
static const size_t LONGEST_CALL = 8 * MIB;
static const size_t LONGEST_FRAME = 64 * MIB;
/** No more output of programs is read while this much waits for the service. */
static const size_t MOST_WAITING = 1 * MIB;
/** A spawner keeps less than this back to send it together with what follows. */
static const size_t MOST_KEPT = 65536;

/** How long we wait for more standard input, which some agents never end, before we go the cold path. */
static const int INPUT_MS = 200;
/** The same for `started`. */
static const int64_t WORD_MS = 1000;
/** A spawner reports a program that ends within this time in one piece, because each piece wakes the host. */
static const int64_t TOGETHER_MS = 3;
/** A service that judges says every second that it lives. One that is silent for this long is stuck, as on a file system that hangs. */
static const int64_t SILENCE_MS = 15000;
/** As in src/runners/program/process-group.ts. */
static const int64_t GRACE_MS = 500;
static const int64_t LOOK_MS = 20;
static const int MOST_KILLS = 100;
/** A service that could not start is not started again for this long. */
static const time_t RETRY_SECONDS = 60;
/** A service with fewer descriptors could not run the hooks of many callers. */
static const rlim_t FEWEST_FILES = 1024;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** For poll: the time that is left, rounded so that we never wake too early and spin. */
static int left_until(int64_t deadline) {
  int64_t left = deadline - now_ms();
  return left <= 0 ? 0 : left > INT_MAX - 1 ? INT_MAX : (int)left + 1;
}

_Noreturn static void give_up(void);
_Noreturn static void leave(int code);

// ---- bytes ------------------------------------------------------------------------------------------------------

struct bytes {
  uint8_t *at;
  size_t length, room;
};

static void reserve(struct bytes *bytes, size_t more) {
  if (more <= bytes->room - bytes->length) return;
  size_t room = bytes->room * 2 > bytes->length + more ? bytes->room * 2 : bytes->length + more;
  uint8_t *at = realloc(bytes->at, room);
  if (at == NULL) give_up();
  bytes->at = at;
  bytes->room = room;
}

static void append(struct bytes *bytes, const void *more, size_t length) {
  if (length == 0) return;
  reserve(bytes, length);
  memcpy(bytes->at + bytes->length, more, length);
  bytes->length += length;
}

static void drop_first(struct bytes *bytes, size_t length) {
  if (length == 0) return; // Moving a long frame for each piece of it would take quadratic time.
  bytes->length -= length;
  memmove(bytes->at, bytes->at + length, bytes->length);
}

static void append_u8(struct bytes *bytes, uint8_t value) { append(bytes, &value, 1); }

static void put_u32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void append_u32(struct bytes *bytes, uint32_t value) {
  uint8_t four[4];
  put_u32(four, value);
  append(bytes, four, sizeof four);
}

static void append_text(struct bytes *bytes, const void *text, size_t length) {
  append_u32(bytes, (uint32_t)length);
  append(bytes, text, length);
}

static void append_word(struct bytes *bytes, const char *word) { append_text(bytes, word, strlen(word)); }

static void append_words(struct bytes *bytes, char *const *words) {
  uint32_t count = 0;
  while (words[count] != NULL) count++;
  append_u32(bytes, count);
  for (uint32_t i = 0; i < count; i++) append_word(bytes, words[i]);
}

/** Returns where the frame begins, for `end_frame`. */
static size_t begin_frame(struct bytes *bytes, uint8_t type) {
  size_t start = bytes->length;
  append_u32(bytes, 0);
  append_u8(bytes, type);
  return start;
}

static void end_frame(struct bytes *bytes, size_t start) {
  put_u32(bytes->at + start, (uint32_t)(bytes->length - start - HEADER));
}

/** The fields of a payload, one after the other. */
struct fields {
  uint8_t *at;
  size_t left;
};

static uint8_t *take(struct fields *fields, size_t length) {
  if (length > fields->left) give_up();
  uint8_t *at = fields->at;
  fields->at += length;
  fields->left -= length;
  return at;
}

static uint8_t take_u8(struct fields *fields) { return *take(fields, 1); }
static uint32_t take_u32(struct fields *fields) { return get_u32(take(fields, 4)); }

static void take_end(const struct fields *fields) {
  if (fields->left > 0) give_up();
}

static uint32_t take_last_u32(struct fields *fields) {
  uint32_t value = take_u32(fields);
  take_end(fields);
  return value;
}

/** Ends with a NUL: the text moves one byte forward, over its length, which is no longer needed. */
static char *take_text(struct fields *fields, size_t *length) {
  *length = take_u32(fields);
  uint8_t *at = take(fields, *length);
  char *text = (char *)at - 1;
  memmove(text, at, *length);
  text[*length] = '\0';
  return text;
}

static char *take_word(struct fields *fields) {
  size_t length;
  return take_text(fields, &length);
}

/** An array that ends with NULL. The first `before` places are left to the caller. */
static char **take_words(struct fields *fields, size_t before) {
  size_t count = take_u32(fields);
  if (count > fields->left / 4) give_up();
  char **words = malloc((before + count + 1) * sizeof *words);
  if (words == NULL) give_up();
  for (size_t i = 0; i < count; i++) words[before + i] = take_word(fields);
  words[before + count] = NULL;
  return words;
}

// ---- our own life -----------------------------------------------------------------------------------------------

/** How far the call has come. */
static enum { COLD_IS_POSSIBLE, JUDGING, VERDICT_PRINTED } stage = COLD_IS_POSSIBLE;

static char **own_arguments; // NODE SCRIPT ARGUMENT...
/** A socket to the service, or to the host whose spawner we are. */
static int service = -1;
static bool is_spawner;
static struct bytes incoming, outgoing;
static int64_t deadline, heard_at;
/** When a spawner has to send what is outgoing. */
static int64_t send_by = INT64_MAX;

/** What we print, and our exit code, if we lose the service. */
static struct {
  int exit;
  struct bytes text[2];
} interrupted;

/** Output that is held back until the verdict is complete, so that a lost service cannot leave half of it. */
static struct bytes held[2];

static bool write_all(int fd, const void *data, size_t length) {
  const char *at = data;
  while (length > 0) {
    ssize_t written = write(fd, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      struct pollfd one = {.fd = fd, .events = POLLOUT};
      poll(&one, 1, -1);
      continue;
    }
    if (written < 0) return false;
    at += written;
    length -= (size_t)written;
  }
  return true;
}

/** A verdict that cannot be written would look like none, so it becomes a refusal. */
static void print(int fd, struct bytes *text) {
  bool is_written = write_all(fd, text->at, text->length);
  text->length = 0;
  if (is_written || fd != STDOUT_FILENO) return;
  static const char problem[] = "carabiner: the answer could not be written\n";
  write_all(STDERR_FILENO, problem, sizeof problem - 1);
  leave(REFUSED);
}

static void print_held(void) {
  print(STDERR_FILENO, &held[1]);
  print(STDOUT_FILENO, &held[0]);
}

static void set_cloexec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }
static void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void close_if_open(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_from(int first) {
#if defined(__linux__) && defined(SYS_close_range)
  if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) == 0) return;
#endif
  long most = sysconf(_SC_OPEN_MAX);
  if (most < 0 || most > 65536) most = 65536;
  for (int fd = first; fd < most; fd++) close(fd);
}

/** A process that outlives us must not hold what our caller waits for. */
static void let_go_from(int first) {
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; fd++)
    if (dup2(null, fd) < 0) close(fd);
  close_from(first);
}

static void reset_signals(void) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL); // KILL and STOP refuse, harmlessly.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/** Forks a process that is not our child, so that whatever we become need not wait for it. Returns as fork does. */
static pid_t fork_away(void) {
  pid_t child = fork();
  if (child == 0) {
    setsid();
    pid_t away = fork();
    if (away != 0) _exit(away < 0);
    return 0;
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0 ? child : -1;
}

_Noreturn static void refuse(const char *why) {
  dprintf(STDERR_FILENO, "carabiner: %s: %s\n", why, strerror(errno));
  exit(REFUSED);
}

// ---- standard input, and the cold path --------------------------------------------------------------------------

static struct bytes input;
static bool input_has_ended;
/** Where it began, if it is a file. */
static off_t input_start = -1;

/** Reads until it ends, or becomes too long, or pauses for too long. */
static void read_input(void) {
  input_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
  while (input.length <= MOST_INPUT) {
    struct pollfd one = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = poll(&one, 1, INPUT_MS);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    reserve(&input, 65536);
    ssize_t count = read(STDIN_FILENO, input.at + input.length, 65536);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return;
    if (count == 0) {
      input_has_ended = true;
      return;
    }
    input.length += (size_t)count;
  }
}

/** Writes what we have read to the pipe, and then everything that still comes. Ends when nobody reads it any more. */
_Noreturn static void feed(int source, int target, const uint8_t *rest, size_t length) {
  reset_signals();
  bool is_written = write_all(target, rest, length);
  while (is_written && !input_has_ended) {
    // Linux tells at once that the reader is gone. macOS tells only those who ask whether they can write.
    struct pollfd both[] = {{.fd = source, .events = POLLIN}, {.fd = target}}, end = {.fd = target, .events = POLLOUT};
    if (poll(both, 2, 1000) < 0 && errno != EINTR) break;
    if (poll(&end, 1, 0) > 0 && (end.revents & ~POLLOUT)) break;
    if (both[0].revents == 0) continue;
    ssize_t count = read(source, input.at, input.room);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) break;
    if (count > 0) is_written = write_all(target, input.at, (size_t)count);
  }
  _exit(0);
}

/** Lets the next program read again what we have read. */
static void give_input_back(void) {
  if (input.length == 0 && !input_has_ended) return; // Nothing was read.
  if (input_start >= 0 && lseek(STDIN_FILENO, input_start, SEEK_SET) >= 0) return;
  static const char failure[] = "standard input cannot be passed on";
  int source = dup(STDIN_FILENO), ends[2];
  if (source < 0 || pipe(ends) < 0) refuse(failure);
  int flags = fcntl(ends[1], F_GETFL);
  set_nonblocking(ends[1]);
  size_t written = 0;
  while (written < input.length) {
    ssize_t count = write(ends[1], input.at + written, input.length - written);
    if (count <= 0) break; // The pipe is full.
    written += (size_t)count;
  }
  fcntl(ends[1], F_SETFL, flags);
  if (written < input.length || !input_has_ended) {
    pid_t feeder = fork_away();
    if (feeder < 0) refuse(failure);
    if (feeder == 0) {
      dup2(source, 3); // The lowest of the three, so this closes neither of the others.
      dup2(ends[1], 4);
      let_go_from(5);
      feed(3, 4, input.at + written, input.length - written);
    }
  }
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  close(ends[1]);
  close(source);
}

_Noreturn static void run_cold(void) {
  close_if_open(&service);
  give_input_back();
  execvp(own_arguments[0], own_arguments);
  dprintf(STDERR_FILENO, "carabiner: cannot start %s: %s. Run carabiner setup again.\n", own_arguments[0],
          strerror(errno));
  exit(REFUSED); // Agents go on after the usual 127.
}

// ---- where the service is ---------------------------------------------------------------------------------------

static bool is_set(const char *value) { return value != NULL && value[0] != '\0'; }

/** Writes a path. Returns false if it is too long. */
#define make_path(path, ...) ((size_t)snprintf(path, sizeof path, __VA_ARGS__) < sizeof path)

/** As `stateHome` in src/files/homes.ts. Returns false for an environment that only the cold path understands. */
static bool find_folder(char folder[PATH_MAX]) {
  const char *own = getenv("CARABINER_HOME"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (home == NULL || home[0] != '/') return false;
  int length;
  if (is_set(own)) {
    if (own[0] != '/') return false;
    length = snprintf(folder, PATH_MAX, "%s/state/service", own);
  } else if (is_set(state) && state[0] == '/') {
    length = snprintf(folder, PATH_MAX, "%s/carabiner/service", state);
  } else {
    length = snprintf(folder, PATH_MAX, "%s/.local/state/carabiner/service", home);
  }
  return length < PATH_MAX;
}

/** The id of the build that the script belongs to: a new build has a service of its own. */
static bool read_build(const char *script, char build[65]) {
  char real[PATH_MAX], path[PATH_MAX];
  if (realpath(script, real) == NULL) return false;
  *strrchr(real, '/') = '\0';
  if (!make_path(path, "%s/build-id", real)) return false;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, build, 64);
  close(file);
  if (length <= 0) return false;
  build[length] = '\0';
  build[strcspn(build, "\n")] = '\0';
  size_t plain = strspn(build, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");
  return plain > 0 && build[plain] == '\0';
}

static uintmax_t inode_of(const char *path) {
  struct stat stats;
  return stat(path, &stats) == 0 ? (uintmax_t)stats.st_ino : 0;
}

/**
 * Names the machine, its namespaces and the root folder, because a service elsewhere that shares the folder sees other
 * files, processes and networks. `here` in src/service/socket/running-services.ts makes the same.
 */
static uint64_t hash_of_here(void) {
  char host[256] = "", text[512];
  gethostname(host, sizeof host - 1);
  struct stat root = {0};
  stat("/", &root);
  snprintf(text, sizeof text, "%s %jx %jx %jx %jx %jx", host, inode_of("/proc/self/ns/mnt"),
           inode_of("/proc/self/ns/pid"), inode_of("/proc/self/ns/net"), inode_of("/proc/self/ns/user"),
           (uintmax_t)root.st_dev ^ (uintmax_t)root.st_ino);
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const char *at = text; *at != '\0'; at++) hash = (hash ^ (uint8_t)*at) * 0x100000001b3;
  return hash;
}

/** Opens the folder, if it is ours and closed to others. */
static int open_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat stats;
  if (folder < 0) return -1;
  if (fstat(folder, &stats) == 0 && stats.st_uid == geteuid() && (stats.st_mode & 077) == 0) return folder;
  close(folder);
  errno = EACCES;
  return -1;
}

// ---- starting it ------------------------------------------------------------------------------------------------

static void make_folders(const char *path) {
  char part[PATH_MAX];
  snprintf(part, sizeof part, "%s", path);
  for (char *at = part + 1;; at++) {
    if (*at != '/' && *at != '\0') continue;
    char end = *at;
    *at = '\0';
    mkdir(part, 0700);
    if (end == '\0') return;
    *at = end;
  }
}

/** Whether a process that we start could work for every caller: one with limits of its own could not. */
static bool is_unlimited(void) {
  const int limits[] = {RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_AS};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (getrlimit(limits[i], &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return false;
  }
  struct rlimit files; // Node raises its own limit as far as it may.
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max < FEWEST_FILES) return false;
  errno = 0;
  int nice = getpriority(PRIO_PROCESS, 0);
  return errno == 0 && nice <= 0;
}

static bool has_failed_lately(int folder) {
  struct stat stats;
  if (fstatat(folder, "failed.txt", &stats, AT_SYMLINK_NOFOLLOW) != 0) return false;
  time_t age = time(NULL) - stats.st_mtime;
  return age >= 0 && age < RETRY_SECONDS;
}

/** Whether this variable says where the user's files are. The service answers only callers with the same ones. */
static bool names_home(const char *variable) {
  static const char *const names[] = {"HOME=", "CARABINER_HOME=", "XDG_DATA_HOME=", "XDG_STATE_HOME="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/** The service holds the lock for its whole life, so there is never a second one. It starts with nothing of ours. */
static void start_service(const char *path, const char *name) {
  if (own_arguments[0][0] != '/' || own_arguments[1][0] != '/' || !is_unlimited()) return;
  int folder = open_folder(path);
  if (folder < 0 && errno == ENOENT) {
    make_folders(path);
    folder = open_folder(path);
  }
  if (folder < 0) return;
  char lock_name[128];
  snprintf(lock_name, sizeof lock_name, "%s.lock", name);
  int lock = has_failed_lately(folder)
                 ? -1
                 : openat(folder, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  close(folder);
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0 && fork_away() == 0) {
    reset_signals();
    if (lock == LOCK_FD) fcntl(lock, F_SETFD, 0);
    else dup2(lock, LOCK_FD);
    let_go_from(LOCK_FD + 1);
    umask(077);
    if (chdir("/") != 0) _exit(1);
    char *arguments[12] = {own_arguments[0], own_arguments[1], "service", "run", (char *)path, (char *)name};
    size_t count = 6;
    for (char **one = environ; *one != NULL && count < 11; one++)
      if (names_home(*one)) arguments[count++] = *one;
    char *nothing[] = {NULL};
    execve(own_arguments[0], arguments, nothing);
    _exit(1);
  }
  close(lock);
}

// ---- asking it --------------------------------------------------------------------------------------------------

static bool is_own_peer(void) {
#ifdef SO_PEERCRED
  struct ucred peer;
  socklen_t length = sizeof peer;
  return getsockopt(service, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
#else
  uid_t user;
  gid_t group;
  return getpeereid(service, &user, &group) == 0 && user == geteuid();
#endif
}

/** Connects from inside the folder: an address is at most about 100 bytes long. Returns false if nobody listens. */
static bool connect_in(int folder, const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s.sock", name);
  int back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (back < 0 || fchdir(back) != 0) run_cold(); // We could not come back here.
  service = socket(AF_UNIX, SOCK_STREAM, 0);
  if (service < 0 || fchdir(folder) != 0) run_cold();
  set_cloexec(service);
  set_nonblocking(service);
#ifdef SO_NOSIGPIPE
  setsockopt(service, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  int result = connect(service, (struct sockaddr *)&address, sizeof address);
  int failure = errno;
  if (fchdir(back) != 0) refuse("the working folder cannot be entered");
  close(back);
  if (result == 0) return true;
  close_if_open(&service);
  errno = failure;
  return false;
}

/** Sends as much as the service takes now. */
static void send_outgoing(void) {
  size_t sent = 0;
  while (sent < outgoing.length) {
    ssize_t count = send(service, outgoing.at + sent, outgoing.length - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0 && is_spawner) give_up();
    if (count < 0) sent = outgoing.length; // Nobody reads it, but what the service has said before is still to come.
    else sent += (size_t)count;
  }
  drop_first(&outgoing, sent);
  if (outgoing.length == 0) send_by = INT64_MAX;
}

/** A spawner sends the frames of one turn together. */
static void send_frame(size_t frame) {
  end_frame(&outgoing, frame);
  if (is_spawner) send_by = 0;
  else send_outgoing();
}

/** For what says little before the program has ended. */
static void send_frame_soon(size_t frame) {
  int64_t by = now_ms() + TOGETHER_MS;
  if (by > send_by) by = send_by;
  send_frame(frame);
  if (is_spawner) send_by = by;
}

static bool has_to_send(void) {
  return outgoing.length > 0 && (!is_spawner || outgoing.length >= MOST_KEPT || now_ms() >= send_by);
}

/** Bytes of the first frame with its header, or 0 if it is not complete. */
static size_t first_frame(const uint8_t *at, size_t length) {
  if (length < HEADER) return 0;
  size_t whole = HEADER + (size_t)get_u32(at);
  if (whole - HEADER > LONGEST_FRAME) give_up();
  return whole <= length ? whole : 0;
}

static void send_call(const char *cwd) {
  size_t frame = begin_frame(&outgoing, CALL);
  append_u32(&outgoing, PROTOCOL);
  append_u32(&outgoing, (uint32_t)getpid());
  append_word(&outgoing, cwd);
  append_words(&outgoing, own_arguments + 2);
  append_word(&outgoing, own_arguments[1]);
  append_words(&outgoing, environ);
  append_text(&outgoing, input.at, input.length);
  if (outgoing.length > LONGEST_CALL) run_cold();
  send_frame(frame);
}

// ---- programs ---------------------------------------------------------------------------------------------------

/** A program that we run for the service, in a group of its own. */
struct program {
  uint32_t id;
  pid_t pid;
  /** Our ends of its standard input, output and error, or -1. */
  int streams[3];
  /** Ends when it runs, or tells why it does not. -1 once we know. */
  int report;
  /** Until then, only its exit counts. */
  int64_t followed_from;
  /** Where the guard finds its number. NULL if there is no guard. */
  volatile pid_t *guarded;
  struct bytes input;
  size_t written;
  /** `is_gone`: no process is left. `is_told`: the service knows. */
  bool has_exited, is_gone, is_told, is_ending;
  int64_t ending_since;
  int kills;
  struct program *next;
};

static struct program *programs;

static size_t begin_report(uint8_t type, uint32_t id) {
  size_t frame = begin_frame(&outgoing, type);
  append_u32(&outgoing, id);
  return frame;
}

#ifdef __linux__
/** Whether this process is in the group and not a zombie. */
static bool lives_in(pid_t group, const char *pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  char *after_name = strrchr(text, ')'); // The name can contain anything.
  char state;
  int parent, in_group;
  if (after_name == NULL || sscanf(after_name + 1, " %c %d %d", &state, &parent, &in_group) != 3) return false;
  return in_group == group && state != 'Z' && state != 'X';
}

/** An unreaped zombie, common in containers, still accepts signals. */
static bool has_living(pid_t group) {
  DIR *all = opendir("/proc");
  if (all == NULL) return true;
  bool found = false;
  for (struct dirent *one; !found && (one = readdir(all)) != NULL;)
    found = one->d_name[0] >= '1' && one->d_name[0] <= '9' && lives_in(group, one->d_name);
  closedir(all);
  return found;
}
#else
static bool has_living(pid_t group) {
  (void)group;
  return true;
}
#endif

/** Returns false if no process is left. The number may then belong to another group, so it is never used again. */
static bool signal_group(struct program *program, int number) {
  if (program->is_gone) return false;
  // EPERM: a process exists that we may not signal.
  if (kill(-program->pid, number) == 0 || errno != ESRCH) return true;
  // Until we know that it runs, it may not have a group of its own yet.
  if (program->report >= 0 && (kill(program->pid, number) == 0 || errno != ESRCH)) return true;
  program->is_gone = true;
  return false;
}

struct command {
  char **arguments, **variables;
  const char *cwd;
};

/** Why a program could not be started. */
struct failure {
  int error;
  bool is_cwd;
};

/** A place in the guard's table that is in use, but names no process. */
static const pid_t NOBODY = -1;

static volatile pid_t *place_in_guard(void);

/** What Node's spawn does between fork and exec. The guard knows the program before it runs: we may be killed at any moment. */
_Noreturn static void become(const struct command *command, const int ends[3], const struct program *program, int report) {
  close_if_open(&service); // A folder that hangs must not hide our end from the host.
  setsid();
  if (program->guarded != NULL) *program->guarded = getpid();
  for (int fd = 0; fd <= 2; fd++) dup2(ends[fd], fd);
  bool is_there = chdir(command->cwd) == 0;
  if (is_there) {
    reset_signals();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM); // Nobody else would end it.
#endif
    environ = command->variables;
    execvp(command->arguments[0], command->arguments);
  }
  struct failure failure = {errno, !is_there};
  if (program->guarded != NULL) *program->guarded = NOBODY;
  write_all(report, &failure, sizeof failure);
  _exit(NOT_FOUND);
}

/** A socket, like Node's, so that a hook meets the same on both paths. */
static bool make_pair(int *ours, int *theirs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) return false;
  *ours = pair[0];
  *theirs = pair[1];
  set_cloexec(*ours);
  set_cloexec(*theirs);
  set_nonblocking(*ours);
#ifdef SO_NOSIGPIPE
  setsockopt(*ours, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
  return true;
}

/** Returns 0, or why there is no process. Whether that becomes the program is learnt later: a file system may hang. */
static int start_program(const struct command *command, struct program *program) {
  int theirs[3] = {-1, -1, -1}, report[2] = {-1, -1};
  bool is_ready = true;
  sigset_t all, before;
  sigfillset(&all);
  program->pid = -1;
  for (int i = 0; i < 3; i++) program->streams[i] = -1;
  for (int i = 0; i < 3 && is_ready; i++) is_ready = make_pair(&program->streams[i], &theirs[i]);
  if (is_ready && pipe(report) == 0) {
    for (int i = 0; i < 2; i++) set_cloexec(report[i]);
    program->guarded = place_in_guard();
    sigprocmask(SIG_SETMASK, &all, &before); // Our handlers must not run in the other process.
    program->pid = fork();
    if (program->pid == 0) become(command, theirs, program, report[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
  }
  int error = program->pid < 0 ? errno : 0;
  for (int i = 0; i < 3; i++) close_if_open(&theirs[i]);
  close_if_open(&report[1]);
  if (error != 0) close_if_open(&report[0]);
  else set_nonblocking(report[0]);
  program->report = report[0];
  return error;
}

static void forget(struct program *program) {
  for (int i = 0; i < 3; i++) close_if_open(&program->streams[i]);
  close_if_open(&program->report);
  if (program->guarded != NULL) *program->guarded = 0;
  free(program->input.at);
  free(program);
}

static void start_guard(void);

/** Whether it is our own lack of something, and says nothing about the hook. */
static bool is_ours(int error) {
  return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM;
}

static void report_failure(uint32_t id, struct failure failure) {
  if (!is_spawner && is_ours(failure.error)) give_up(); // A host starts the program itself.
  size_t frame = begin_report(CHILD, id);
  append_u32(&outgoing, (uint32_t)-failure.error);
  append_word(&outgoing, failure.is_cwd ? "cwd" : "exec");
  send_frame(frame);
}

/** Reports whether the program runs, once that is known. */
static void learn_start(struct program *program) {
  if (program->report < 0) return;
  struct failure failure;
  ssize_t length = read(program->report, &failure, sizeof failure);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
  close_if_open(&program->report);
  if (length == sizeof failure) {
    while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR) continue;
    for (int i = 0; i < 3; i++) close_if_open(&program->streams[i]);
    program->has_exited = program->is_gone = program->is_told = true;
    return report_failure(program->id, failure);
  }
  size_t frame = begin_report(CHILD, program->id);
  append_u32(&outgoing, (uint32_t)program->pid);
  send_frame_soon(frame);
}

static void write_input(struct program *program) {
  while (program->written < program->input.length) {
    ssize_t count = send(program->streams[0], program->input.at + program->written,
                         program->input.length - program->written, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) break; // A program may close its input early.
    program->written += (size_t)count;
  }
  close_if_open(&program->streams[0]);
}

static void run_program(struct fields *fields) {
  uint32_t id = take_u32(fields);
  char *file = take_word(fields);
  struct command command = {.arguments = take_words(fields, 1)};
  command.arguments[0] = file;
  command.cwd = take_word(fields);
  command.variables = take_words(fields, 0);
  size_t length;
  char *text = take_text(fields, &length);
  take_end(fields);
  struct program *program = calloc(1, sizeof *program);
  if (program == NULL) give_up();
  append(&program->input, text, length);
  start_guard();
  int error = start_program(&command, program);
  free(command.arguments);
  free(command.variables);
  if (error != 0) {
    report_failure(id, (struct failure){error, false});
    return forget(program);
  }
  program->id = id;
  program->followed_from = is_spawner ? now_ms() + TOGETHER_MS : 0;
  program->next = programs;
  programs = program;
  write_input(program);
}

/** Returns false if nothing is there now. */
static bool read_output(struct program *program, int stream) {
  static uint8_t piece[65536];
  ssize_t count = recv(program->streams[stream], piece, sizeof piece, 0);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  size_t frame = begin_report(OUTPUT, program->id);
  append_u8(&outgoing, (uint8_t)stream);
  if (count > 0) append(&outgoing, piece, (size_t)count);
  else close_if_open(&program->streams[stream]);
  send_frame_soon(frame);
  return true;
}

/** More than a socket holds. A process that the program left behind can print forever. */
static const int MOST_PIECES = 16;

/** What it printed before it exited is its verdict, so the service gets that first. */
static void read_rest(struct program *program) {
  learn_start(program);
  if (program->report >= 0) return;
  for (int stream = 1; stream <= 2; stream++)
    for (int i = 0; i < MOST_PIECES && program->streams[stream] >= 0 && read_output(program, stream);) i++;
}

/** Reports a program that has exited. */
static void reap(struct program *program) {
  int status;
  learn_start(program);
  if (program->has_exited || program->report >= 0) return; // Only a program that runs can exit.
  if (waitpid(program->pid, &status, WNOHANG) != program->pid) return;
  program->has_exited = true;
  program->is_told = !signal_group(program, 0);
  read_rest(program);
  size_t frame = begin_report(EXITED, program->id);
  append_u32(&outgoing, WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : (uint32_t)-1);
  append_u32(&outgoing, WIFSIGNALED(status) ? (uint32_t)WTERMSIG(status) : 0);
  append_u8(&outgoing, program->is_told);
  send_frame(frame);
}

static void reap_all(void) {
  for (struct program *program = programs; program != NULL; program = program->next) reap(program);
}

static void begin_ending(struct program *program) {
  program->is_ending = true;
  program->ending_since = now_ms();
  if (signal_group(program, SIGTERM)) signal_group(program, SIGCONT); // A suspended process only gets TERM then.
}

/** Whatever it said before its end was asked for counts, so the service gets that before `ending`: we may have been suspended. */
static void end_program(uint32_t id) {
  struct program *program = programs;
  while (program != NULL && program->id != id) program = program->next;
  if (program != NULL) {
    read_rest(program);
    reap(program);
  }
  bool is_living = program != NULL && signal_group(program, 0) && has_living(program->pid);
  size_t frame = begin_report(ENDING, id);
  append_u8(&outgoing, is_living);
  send_frame(frame);
  if (program != NULL && !program->is_gone && !program->is_ending) begin_ending(program);
}

/** Whether we have to look ourselves when its group is gone: the system tells us only about our own children. */
static bool is_watched(const struct program *program) {
  return !program->is_told && (program->has_exited || program->is_ending);
}

static void look(struct program *program) {
  int64_t ending = program->is_ending ? now_ms() - program->ending_since : 0;
  bool is_overdue = ending >= GRACE_MS;
  if (!signal_group(program, is_overdue ? SIGKILL : 0)) return;
  if (is_overdue) program->kills++;
  bool is_dead = program->report < 0 && ending >= LOOK_MS && !has_living(program->pid);
  if (is_dead) signal_group(program, SIGKILL); // For a process that was started while we looked.
  if (is_dead || program->kills > MOST_KILLS) program->is_gone = true;
}

static int64_t next_look;

static void look_at_all(void) {
  int64_t now = now_ms();
  if (now < next_look) return;
  next_look = now + LOOK_MS;
  for (struct program *program = programs; program != NULL; program = program->next) {
    if (!is_watched(program)) continue;
    look(program);
    if (program->is_gone) reap(program); // `exited` comes before `gone`.
    if (!program->is_gone || program->is_told) continue;
    program->is_told = true;
    send_frame(begin_report(GONE, program->id));
  }
}

/** Waits until every program that is ending is gone. */
static void end_the_rest(void) {
  for (bool is_left = true; is_left; poll(NULL, 0, (int)LOOK_MS)) {
    is_left = false;
    for (struct program *program = programs; program != NULL; program = program->next) {
      if (program->is_gone) continue;
      look(program);
      is_left |= !program->is_gone;
    }
  }
}

/** Ends what still runs. Another process sends KILL, because our caller need not wait for that. */
static void end_all(void) {
  bool is_any = false;
  for (struct program *program = programs; program != NULL; program = program->next) {
    if (!program->has_exited && waitpid(program->pid, NULL, WNOHANG) == program->pid) program->has_exited = true;
    if (!signal_group(program, 0)) continue;
    is_any = true;
    if (!program->is_ending) begin_ending(program);
  }
  pid_t killer = is_any ? fork_away() : 1;
  if (killer > 0) return;
  if (killer == 0) let_go_from(3);
  end_the_rest();
  if (killer == 0) _exit(0);
}

// ---- if we are killed -------------------------------------------------------------------------------------------

/** To a process that ends our programs if we cannot. A byte means that we end by ourselves. */
static int guard = -1;

/** The programs that it would end, in memory that we share with it: a message for each would wake it. 0: a free place. */
static volatile pid_t *guarded;
enum { MOST_GUARDED = 16384 };

/** NULL if there is none. Only the system's own signal is left then, which reaches a program, but nothing that it started. */
static volatile pid_t *place_in_guard(void) {
  for (int i = 0; guard >= 0 && i < MOST_GUARDED; i++) {
    if (guarded[i] != 0) continue;
    guarded[i] = NOBODY;
    return &guarded[i];
  }
  return NULL;
}

_Noreturn static void guard_programs(int source) {
  setsid();
  reset_signals();
  dup2(source, 3);
  let_go_from(4);
  if (chdir("/") != 0) _exit(1);
  uint8_t byte;
  if (read(3, &byte, 1) == 1) _exit(0);
  for (int i = 0; i < MOST_GUARDED; i++) {
    struct program *program = guarded[i] > 0 ? calloc(1, sizeof *program) : NULL;
    if (program == NULL) continue;
    program->pid = guarded[i];
    program->report = -1;
    program->next = programs;
    programs = program;
    begin_ending(program);
  }
  end_the_rest();
  _exit(0);
}

static void start_guard(void) {
  int ends[2];
  if (guard >= 0) return;
  if (guarded == NULL) {
    void *shared = mmap(NULL, MOST_GUARDED * sizeof *guarded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    if (shared == MAP_FAILED) return;
    guarded = shared;
  }
  if (pipe(ends) < 0) return;
  pid_t pid = fork();
  if (pid == 0) guard_programs(ends[0]);
  close(ends[0]);
  set_cloexec(ends[1]);
  guard = ends[1];
  if (pid < 0) close_if_open(&guard);
}

// ---- the end ----------------------------------------------------------------------------------------------------

_Noreturn static void leave(int code) {
  close_if_open(&service);
  end_all();
  if (guard >= 0) write_all(guard, "", 1);
  exit(code >= 0 && code <= 255 ? code : REFUSED); // The system would take 256 for 0.
}

/** The service cannot answer any more. */
_Noreturn static void give_up(void) {
  if (stage == COLD_IS_POSSIBLE) run_cold();
  if (stage == JUDGING) {
    print(STDERR_FILENO, &interrupted.text[1]);
    print(STDOUT_FILENO, &interrupted.text[0]);
  }
  leave(interrupted.exit);
}

// ---- the loop ---------------------------------------------------------------------------------------------------

static int wake[2] = {-1, -1};

static void on_signal(int number) {
  int error = errno;
  uint8_t byte = (uint8_t)number;
  if (write(wake[1], &byte, 1) < 0) {
    // The pipe is full, so we wake anyway.
  }
  errno = error;
}

static void listen_to_signals(void) {
  if (pipe(wake) < 0) give_up();
  for (int i = 0; i < 2; i++) {
    set_cloexec(wake[i]);
    set_nonblocking(wake[i]);
  }
  signal(SIGPIPE, SIG_IGN);
  sigset_t children; // Our caller may have blocked it.
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_UNBLOCK, &children, NULL);
  const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], NULL, &before);
    if (numbers[i] == SIGCHLD || before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
  }
}

/** The service handles the first signal. On the second, we give up. */
static void take_signals(void) {
  static bool is_told;
  uint8_t numbers[64];
  ssize_t count = read(wake[0], numbers, sizeof numbers);
  for (ssize_t i = 0; i < count; i++) {
    if (numbers[i] == SIGCHLD) continue;
    if (is_told || is_spawner) give_up();
    is_told = true;
    send_frame(begin_report(SIGNAL, numbers[i]));
  }
  reap_all();
}

/** Keeps the answer, and tells the service to begin. */
static void begin(struct fields *fields) {
  deadline = now_ms() + take_u32(fields);
  interrupted.exit = (int32_t)take_u32(fields);
  for (int i = 0; i < 2; i++) {
    size_t length;
    char *text = take_text(fields, &length);
    append(&interrupted.text[i], text, length);
  }
  take_end(fields);
  listen_to_signals();
  // As Node does: programs get nothing that our caller left open.
  for (int fd = 3; fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 || fd <= 15; fd++) continue;
  stage = JUDGING;
  heard_at = now_ms();
  send_frame(begin_frame(&outgoing, GO));
  // Most events have a hook to run. The process is made while the service plans, so that no hook waits for it.
  if (strcmp(own_arguments[2], "fire") == 0) start_guard();
}

/** Answers once everything that the programs have said is on its way. */
static void take_ping(void) {
  for (struct program *program = programs; program != NULL; program = program->next) read_rest(program);
  reap_all();
  send_frame(begin_frame(&outgoing, PONG));
}

static void release_program(uint32_t id) {
  for (struct program *program = programs; program != NULL; program = program->next)
    for (int i = 0; i < 3 && program->id == id; i++) close_if_open(&program->streams[i]);
}

static void take_host_message(uint8_t type, struct fields fields) {
  switch (type) {
    case RUN:
      run_program(&fields);
      break;
    case PING:
      take_end(&fields);
      take_ping();
      break;
    case RELEASE:
      release_program(take_last_u32(&fields));
      break;
    default:
      give_up();
  }
}

static void take_message(uint8_t type, struct fields fields) {
  if (is_spawner) return take_host_message(type, fields);
  if ((stage == COLD_IS_POSSIBLE) != (type == STARTED)) give_up();
  switch (type) {
    case STARTED:
      begin(&fields);
      break;
    case RUN:
      run_program(&fields);
      break;
    case END:
      end_program(take_last_u32(&fields));
      break;
    case OUT: {
      int stream = take_u8(&fields) - 1;
      if (stream != 0 && stream != 1) give_up();
      append(&held[stream], fields.at, fields.left);
      if (stage == VERDICT_PRINTED) print_held();
      break;
    }
    case ANSWERED:
      interrupted.exit = (int32_t)take_last_u32(&fields);
      print_held();
      stage = VERDICT_PRINTED;
      break;
    case EXIT: {
      int code = (int32_t)take_last_u32(&fields);
      print_held();
      leave(code);
    }
    case ALIVE:
      take_end(&fields);
      break;
    default:
      give_up();
  }
}

/** A host that hears this never starts the programs itself, so it has to arrive before they run, even if we are killed. */
static void confirm_runs(void) {
  size_t at = 0;
  for (size_t whole; (whole = first_frame(incoming.at + at, incoming.length - at)) > 0; at += whole) {
    if (incoming.at[at + 4] != RUN || whole < HEADER + 4) continue;
    end_frame(&outgoing, begin_report(BEGUN, get_u32(incoming.at + at + HEADER)));
  }
  while (send_outgoing(), outgoing.length > 0) {
    struct pollfd one = {.fd = service, .events = POLLOUT};
    poll(&one, 1, -1);
  }
}

static void take_messages(void) {
  size_t at = 0;
  if (is_spawner) confirm_runs();
  for (size_t whole; (whole = first_frame(incoming.at + at, incoming.length - at)) > 0; at += whole)
    take_message(incoming.at[at + 4], (struct fields){incoming.at + at + HEADER, whole - HEADER});
  drop_first(&incoming, at);
}

/** Forgets programs that are gone and whose output has ended. */
static void forget_ended(void) {
  for (struct program **link = &programs, *program; (program = *link) != NULL;) {
    if (program->is_told && program->has_exited && program->streams[1] < 0 && program->streams[2] < 0) {
      *link = program->next;
      forget(program);
    } else {
      link = &program->next;
    }
  }
}

static void receive(void) {
  reserve(&incoming, 65536);
  ssize_t count = recv(service, incoming.at + incoming.length, 65536, 0);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) give_up();
  heard_at = now_ms();
  incoming.length += (size_t)count;
  take_messages();
}

static void wait_for_events(void) {
  enum { WAKE, SERVICE, FIRST };
  if (is_spawner && has_to_send()) send_outgoing();
  bool is_due = has_to_send(); // Asked once: if its time came between two answers, we would sleep without sending it.
  size_t most = FIRST;
  for (struct program *program = programs; program != NULL; program = program->next) most += 4;
  struct pollfd *all = calloc(most, sizeof *all);
  if (all == NULL) give_up();
  all[WAKE] = (struct pollfd){.fd = wake[0], .events = POLLIN};
  all[SERVICE] = (struct pollfd){.fd = service, .events = is_due ? POLLIN | POLLOUT : POLLIN};
  bool is_read = outgoing.length < MOST_WAITING, is_any_watched = false;
  struct pollfd *at = all + FIRST;
  int64_t now = now_ms(), until = is_due || send_by > deadline ? deadline : send_by;
  if (stage == JUDGING && heard_at + SILENCE_MS < until) until = heard_at + SILENCE_MS;
  for (struct program *program = programs; program != NULL; program = program->next) {
    bool is_followed = now >= program->followed_from, is_known = is_followed && program->report < 0;
    if (!is_followed && program->followed_from < until) until = program->followed_from;
    *at++ = (struct pollfd){.fd = is_followed ? program->report : -1, .events = POLLIN};
    *at++ = (struct pollfd){.fd = program->streams[0], .events = POLLOUT};
    for (int i = 1; i <= 2; i++)
      *at++ = (struct pollfd){.fd = is_read && is_known ? program->streams[i] : -1, .events = POLLIN};
    is_any_watched |= is_watched(program);
  }
  int ready = poll(all, most, left_until(is_any_watched && next_look < until ? next_look : until));
  if (ready >= 0) {
    if (all[SERVICE].revents & POLLOUT) send_outgoing();
    at = all + FIRST;
    for (struct program *program = programs; program != NULL; program = program->next) {
      if (at++->revents != 0) learn_start(program);
      if (at++->revents != 0 && program->streams[0] >= 0) write_input(program);
      for (int i = 1; i <= 2; i++)
        if (at++->revents != 0 && program->streams[i] >= 0) read_output(program, i);
    }
    if (all[WAKE].revents != 0) take_signals();
    look_at_all();
    if (all[SERVICE].revents & ~POLLOUT) receive(); // Last, because it can add programs.
    // After it, because we may have been suspended ourselves.
    else if (stage == JUDGING && now_ms() >= heard_at + SILENCE_MS) give_up();
  }
  free(all);
  if (now_ms() >= deadline) give_up();
}

// ---- all of it --------------------------------------------------------------------------------------------------

/** A process that gave up its privileges would get hooks that run without that limit. */
static bool is_sandboxed(void) {
#ifdef __linux__
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
#else
  return false;
#endif
}

/** Whether the service answers such commands at all, and would answer this one as Node would. */
static bool is_served(void) {
  const char *switched = getenv("CARABINER_SERVICE"), *command = own_arguments[2];
  if (switched != NULL && strcmp(switched, "off") == 0) return false;
  if (command == NULL || (strcmp(command, "fire") != 0 && strcmp(command, "hook") != 0)) return false;
  if (getuid() != geteuid() || is_sandboxed()) return false;
  return !isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO);
}

/** Returns once the service has got the call, or at least a part of it. */
static void ask_service(void) {
  char folder_path[PATH_MAX], build[65], name[96], cwd[PATH_MAX];
  if (!find_folder(folder_path) || !read_build(own_arguments[1], build)) run_cold();
  if (getcwd(cwd, sizeof cwd) == NULL || cwd[0] != '/') run_cold();
  snprintf(name, sizeof name, "%s.%016" PRIx64, build, hash_of_here());
  int folder = open_folder(folder_path);
  if (folder < 0 && errno != ENOENT) run_cold();
  if (folder < 0 || !connect_in(folder, name)) {
    if (folder < 0 || errno != EAGAIN) start_service(folder_path, name);
    run_cold();
  }
  close(folder);
  if (!is_own_peer()) run_cold();
  read_input();
  if (!input_has_ended || input.length > MOST_INPUT) run_cold();
  deadline = now_ms() + WORD_MS;
  send_call(cwd);
}

/** The host ends us by closing its socket, however it ends itself. */
static void begin_spawner(void) {
  is_spawner = true;
  service = HOST_FD;
  stage = VERDICT_PRINTED;
  deadline = INT64_MAX;
  set_cloexec(service);
  set_nonblocking(service);
  listen_to_signals();
  start_guard();
  send_frame(begin_frame(&outgoing, PONG));
}

_Noreturn static void run_loop(void) {
  for (;;) {
    forget_ended();
    wait_for_events();
  }
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], SPAWNER) == 0) {
    begin_spawner();
    run_loop();
  }
  if (count < 3) {
    dprintf(STDERR_FILENO, "usage: clip NODE SCRIPT ARGUMENT...\n");
    return USAGE;
  }
  own_arguments = arguments + 1;
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return REFUSED;
  if (!is_served()) run_cold();
  ask_service();
  run_loop();
}
