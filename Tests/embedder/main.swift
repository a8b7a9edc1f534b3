import CLinux
import Dropmill
import DropmillStages
import Glibc

// A program that embeds mills and sets up nothing: no signals, no limits. It says what it found, or what is wrong, with
// status 1. `embedder MODE FOLDER ARCHIVE`; see the modes below.
helperMain(.builtin)
// Whoever started this may have ignored some.
for number in [SIGIO, SIGPIPE, SIGURG, SIGCHLD] { signal(number, SIG_DFL) }

let arguments = CommandLine.arguments
guard arguments.count == 4 else { fail("usage: embedder MODE FOLDER ARCHIVE") }
let folder = FilePath(arguments[2])
let archive = content(of: arguments[3])

switch arguments[1] {
case "opening": opening()
case "lease": await lease()
case "dying": await dying()
case "cycles": await cycles()
default: fail("unknown mode")
}

/// Opens each file of a dropped folder for writing, again and again, as somebody who breaks every lease. By another
/// link, so that the inbox sees nothing of it.
func opening() {
    let paths = (0..<500).map { strdup(folder.appending("links/\($0)").string) }
    for _ in 0..<600 {
        for path in paths {
            let file = path.map { open($0, O_WRONLY | O_NONBLOCK | O_CLOEXEC) } ?? -1
            if file >= 0 { close(file) }
        }
    }
}

/// A folder is looked at, file by file, while another process opens the files for writing.
func lease() async {
    let mill = mill("checksum", ready: "unit: folder")
    for name in ["drop", "links"] { mkdir(folder.appending(name).string, 0o755) }
    for number in 0..<500 {
        drop([0x61], "drop/\(number)")
        link(folder.appending("drop/\(number)").string, folder.appending("links/\(number)").string)
    }
    await begin(mill)
    let other = spawn("opening")
    guard rename(folder.appending("drop").string, folder.appending("inbox/drop").string) == 0 else { fail("no drop") }
    // What the mill does with each file at each look, more often.
    var leases = 0
    while waitpid(other, nil, WNOHANG) == 0 {
        let file = open(folder.appending("links/\(leases % 500)").string, O_RDONLY | O_CLOEXEC)
        for _ in 0..<100 where dm_probe_read_lease(file) == 0 { leases += 1 }
        close(file)
    }
    guard leases > 1000 else { fail("only \(leases) leases were given") }
    await until("all is processed") { await isIdle(mill) }
    await mill.stop()
    print("alive")
}

/// The processes that unpack are killed, also while they are written to.
func dying() async {
    let mill = mill("unpack")
    await begin(mill)
    for round in 0..<40 {
        for number in 0..<5 { drop(archive, "inbox/\(round)-\(number).zip") }
        for _ in 0..<40 {
            for child in children() { kill(child, SIGKILL) }
            poll(nil, 0, 2)
        }
    }
    await until("all has ended") { await isIdle(mill) }
    await mill.stop()
    print("alive")
}

/// What a mill takes of its process is given back.
func cycles() async {
    let mill = mill("unpack, detect")
    await cycle(mill, 0)
    // Dispatch's own stay, once there are any; its idle threads go after some seconds.
    var threads = 0
    await until("threads rest") {
        let before = threads
        threads = entries("/proc/self/task").count
        poll(nil, 0, 6000)
        return threads == before && threads == entries("/proc/self/task").count
    }
    let files = entries("/proc/self/fd").count
    for number in 1...5 { await cycle(mill, number) }
    await until("no process is left of \(children())") { children().isEmpty }
    await until("\(entries("/proc/self/fd").count) descriptors are \(files)") {
        entries("/proc/self/fd").count <= files
    }
    await until("\(entries("/proc/self/task").count) threads are \(threads)") {
        entries("/proc/self/task").count <= threads
    }
    print("as before")
}

func cycle(_ mill: Mill, _ number: Int) async {
    let events = mill.events
    await begin(mill)
    drop(archive, "inbox/\(number).zip")
    for await event in events where [.processed, .failed].contains(event.kind) {
        if event.kind == .failed { fail("\(event)") }
        break
    }
    await mill.stop()
}

// MARK: What they need

func mill(_ stages: String, ready: String = "") -> Mill {
    let pipeline = PipelineDescription(
        name: "test", base: folder,
        text: """
            inbox: inbox
            processed: processed
            failed: failed
            ready: { quiet: 20ms, \(ready) }
            retry: { backoff: 10ms }
            stages: [\(stages), move: { to: "output/{stem}" }]
            """)
    return Mill(pipelines: [pipeline], registry: .builtin, state: folder.appending("state"))
}

func begin(_ mill: Mill) async {
    do { try await mill.start() } catch { fail("\(error)") }
}

func isIdle(_ mill: Mill) async -> Bool {
    await mill.status().allSatisfy { $0.waiting + $0.queued + $0.running + $0.settling == 0 }
}

func until(_ what: @autoclosure () -> String, _ condition: () async -> Bool) async {
    for _ in 0..<6000 {
        if await condition() { return }
        poll(nil, 0, 10)
    }
    fail("it was never true that \(what())")
}

func spawn(_ mode: String) -> pid_t {
    var process: pid_t = 0
    let own: [String] = [arguments[0], mode, arguments[2], arguments[3]]
    let words = own.map { strdup($0) } + [nil]
    guard posix_spawn(&process, "/proc/self/exe", nil, nil, words, environ) == 0 else { fail("cannot start myself") }
    return process
}

func children() -> [pid_t] {
    entries("/proc/self/task").flatMap { thread in
        String(decoding: content(of: "/proc/self/task/\(thread)/children"), as: UTF8.self).split(separator: " ")
            .compactMap { pid_t($0) }
    }
}

func entries(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { names.append(name) }
    }
    return names
}

func content(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    return Array(bytes.prefix(max(0, Glibc.read(file, &bytes, bytes.count))))
}

/// Under another name first, as a sender that is careful.
func drop(_ bytes: [UInt8], _ name: String) {
    let (part, path) = (folder.appending("part").string, folder.appending(name).string)
    let file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count, close(file) == 0, rename(part, path) == 0
    else {
        fail("cannot write \(path)")
    }
}

func fail(_ problem: String) -> Never {
    print(problem)
    exit(1)
}
