/* The sub-commands of `ptera`. Each takes its own arguments (argv[0] is its name) and returns
 * the exit status. */
#ifndef PTERA_TOOLS_COMMANDS_H
#define PTERA_TOOLS_COMMANDS_H

enum exit_status {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INVALID_PTX = 3,
    EXIT_CANNOT_RUN = 127
};

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_profile(int argc, char **argv);
int command_trace(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_compile(int argc, char **argv);
int command_info(int argc, char **argv);
int command_fuzz(int argc, char **argv);
int command_conform(int argc, char **argv);
int command_litmus(int argc, char **argv);
int command_exec(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_ptxas(int argc, char **argv);

/* The checkers that `ptera check all` means: ptera_launch.checks. */
unsigned check_all(void);

#endif
