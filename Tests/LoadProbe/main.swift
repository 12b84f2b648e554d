// Run by the tests: works as it is told and prints what that took, alone in a process whose memory is its own.
//
// Arguments: download, upload, chunked, sleep, company, nap or wait; the base URL; how much.
import NetManager

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[3]) else { fatalError("three arguments are needed") }
let work = Work(base: arguments[2], count: count)
try await work.warmUp()
let report =
    switch arguments[1] {
    case "download": try await work.download()
    case "upload": try await work.upload(isDeclared: true)
    case "chunked": try await work.upload(isDeclared: false)
    case "sleep": try await work.sleep()
    case "company": try await work.sleep(hasCompany: true)
    case "nap": try await work.sleep(afterPiece: true)
    case "wait": try await work.wait()
    default: fatalError("there is no work of this name")
    }
say(report.text)
