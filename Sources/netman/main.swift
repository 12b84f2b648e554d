import Glibc
import NetmanCommands

exit(await Netman.run(Array(CommandLine.arguments.dropFirst()), console: .system()))
