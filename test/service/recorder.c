// The program that clip becomes in tests: writes down everything it was started with, and then its standard input.
//
//   recorder SCRIPT ARGUMENT...
//
// The record is a file in the folder `runs` beside SCRIPT, named after the process: names and values, each ended by a NUL,
// and after the name `stdin` everything that was read. As `service run` it goes on until it is killed.

#define _GNU_SOURCE
#define _DARWIN_C_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void write_all(int fd, const char *at, size_t length) {
  while (length > 0) {
    ssize_t count = write(fd, at, length);
    if (count < 0) exit(99);
    at += count;
    length -= (size_t)count;
  }
}

int main(int count, char **arguments) {
  static char record[4 * 1024 * 1024], piece[65536];
  char path[4096], draft[4200];
  snprintf(path, sizeof path, "%.*s/runs/%d", (int)(strrchr(arguments[1], '/') - arguments[1]), arguments[1], (int)getpid());
  snprintf(draft, sizeof draft, "%s.draft", path);
  size_t length = 0;
#define NOTE(...) (length += (size_t)snprintf(record + length, sizeof record - length, __VA_ARGS__) + 1)

  struct stat null, stats;
  stat("/dev/null", &null);
  for (int fd = 0; fd < 64; fd++) {
    if (fstat(fd, &stats) != 0) continue;
    NOTE("fd");
    NOTE("%d%s", fd, stats.st_rdev == null.st_rdev ? " null" : "");
    if (fd < 3) continue;
    NOTE("inode");
    NOTE("%llu", (unsigned long long)stats.st_ino);
  }
  for (int i = 1; i < count; i++) NOTE("arg"), NOTE("%s", arguments[i]);
  for (char **one = environ; *one != NULL; one++) NOTE("env"), NOTE("%s", *one);
  char cwd[4096];
  NOTE("cwd");
  NOTE("%s", getcwd(cwd, sizeof cwd) == NULL ? "gone" : cwd);
  mode_t mask = umask(0);
  umask(mask);
  NOTE("umask");
  NOTE("%o", (unsigned)mask);
  NOTE("session");
  NOTE("%d", (int)getsid(0));
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int number = 1; number < 32; number++) {
    struct sigaction action;
    sigaction(number, NULL, &action);
    if (action.sa_handler == SIG_IGN) NOTE("ignored"), NOTE("%d", number);
    if (sigismember(&blocked, number) == 1) NOTE("blocked"), NOTE("%d", number);
  }
  NOTE("stdin");

  int file = open(draft, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) return 98;
  write_all(file, record, length);
  rename(draft, path);
  if (count > 2 && strcmp(arguments[2], "service") == 0) {
    alarm(60);
    for (;;) pause();
  }
  for (ssize_t got; (got = read(STDIN_FILENO, piece, sizeof piece)) > 0;) write_all(file, piece, (size_t)got);
  const char *code = getenv("RECORDER_EXIT");
  dprintf(STDOUT_FILENO, "cold\n");
  dprintf(STDERR_FILENO, "cold, too\n");
  return code == NULL ? 7 : atoi(code);
}
