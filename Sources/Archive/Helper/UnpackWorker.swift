import CLinux
import Glibc
import Helpers
import Synchronization
import SystemPackage

/// The process that parses archives: it does one, with next to no rights, and ends. Whatever a hostile archive makes of
/// it, it can reach nothing but the folder that it unpacks to, and the daemon can kill it.
///
/// It is a copy of a process that has all libraries loaded, and has never seen an archive.
package enum UnpackWorker {
    /// Where the daemon's end of the conversation is; 2 takes what a crash has to say.
    private static let channel: Int32 = 3
    /// The most memory besides that which the program itself takes, and that of each thread.
    private static let memory: UInt64 = 1 << 30
    private static let memoryPerThread: UInt64 = 160 << 20

    /// Makes helpers as the daemon orders them, until it goes.
    package static func run() -> Never {
        prepare()
        dm_serve_helpers("dropmill-unpack") { UnpackWorker.help() }
    }

    /// Has the C library load what it would otherwise look for in files when it is needed, and Swift's make what each
    /// helper would make anew.
    private static func prepare() {
        tzset()
        var time = 0
        var parts = tm()
        localtime_r(&time, &parts)
        EntryNames.prepare()
        _ = ArchiveLibrary.shared.problem
        let request = UnpackRequest(
            format: .container(.zip), alone: Unpacking.LoneFile(name: [], modified: (0, 0)), policy: UnpackPolicy(),
            cpuSeconds: 1)
        _ = UnpackRequest(packet: request.packet)
        _ = HelperMessage.begun(landlock: 0).packet
    }

    /// What is refused where a kernel can confine a process in every other way.
    package static let noLandlock = "landlock_create_ruleset"

    /// How many threads beside the first there is work for.
    private static func crew(for archive: Int32, _ request: UnpackRequest) -> Int {
        let most = max(0, request.policy.workers - 1)
        var status = stat()
        if request.policy.nested > 0 || fstat(archive, &status) != 0 { return most }
        // Small ones, which are many, cost no threads.
        return switch request.format {
        case .container(.zip): min(most, Int(clamping: status.st_size >> 14))
        case .container: 0
        // One for each MiB, of which a block may be made.
        case .compressed(.xz) where status.st_size >= ByteStream.aheadFrom:
            min(most, max(1, Int(clamping: status.st_size >> 20)))
        case .compressed: status.st_size < ByteStream.aheadFrom ? 0 : min(1, most)
        }
    }

    /// Waits for one request, does it, and ends the process.
    private static func help() -> Never {
        var buffer = [UInt8](repeating: 0, count: UnpackRequest.mostBytes)
        var descriptors: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        var count: Int32 = 0
        let received = withUnsafeMutableBytes(of: &descriptors) { raw in
            dm_receive_packet(
                channel, &buffer, buffer.count, raw.baseAddress?.assumingMemoryBound(to: Int32.self), &count)
        }
        // A daemon that goes without a request needs no helper.
        guard received > 0 else { _exit(EX_OK) }
        guard count == 2, let request = UnpackRequest(packet: buffer[..<received]) else { _exit(EX_PROTOCOL) }
        say(carryOut(request, archive: descriptors.0, folder: descriptors.1))
        _exit(EX_OK)
    }

    private static func carryOut(_ request: UnpackRequest, archive: Int32, folder: Int32) -> HelperMessage {
        if let problem = ArchiveLibrary.shared.problem { return .unloaded(problem) }
        EntryNames.prepare(request.policy, request.format)
        do throws(ArchiveError) { try Unpacking.prepare(folder, request.policy) } catch { return .failed(error) }
        // Beside those that write there is one that decompresses; and this one, which has memory of its own as they do.
        let threads = UInt64(max(1, request.policy.workers)) + 2
        var limits = dm_limits(
            memory: AddressSpace.size() + memory + threads * memoryPerThread, cpu: UInt64(max(1, request.cpuSeconds)),
            file_size: UInt64(max(1, request.policy.limits.entry ?? request.policy.limits.bytes)), descriptors: 64)
        // Afterwards even the question would be the end.
        let withoutLandlock = dm_landlock_refusal()
        // Each for itself, before any of them sees the archive; and none can be started afterwards.
        let areConfined = Threads.hire(crew(for: archive, request)) { [limits] in
            var limits = limits
            var refused: UnsafePointer<CChar>?
            return dm_confine(folder, &limits, &refused) >= 0
        }
        var refused: UnsafePointer<CChar>?
        let landlock = dm_confine(folder, &limits, &refused)
        let call = refused.map { String(cString: $0) } ?? "the kernel"
        if landlock < 0 { return .unconfined(call: call, errno) }
        if !areConfined { return .unconfined(call: "confinement of a thread", EAGAIN) }
        if landlock == 0, request.requiresSandbox { return .unconfined(call: noLandlock, withoutLandlock) }
        say(.begun(landlock: landlock > 0 ? Int64(landlock) : -Int64(withoutLandlock)))
        let progress = ProgressReport()
        let monitor = UnpackMonitor(report: { @Sendable (bytes, entries) in progress.add(bytes, entries) })
        do throws(ArchiveError) {
            return .done(
                try Unpacking.run(
                    archive, format: request.format, to: folder, alone: request.alone, policy: request.policy,
                    monitor: monitor))
        } catch {
            return .failed(error)
        }
    }

    /// Tells the daemon; without one there is nothing left to do.
    fileprivate static func say(_ message: HelperMessage) {
        let packet = message.packet
        if dm_send_packet(channel, packet, packet.count, nil, 0) != packet.count { _exit(EX_IOERR) }
    }
}

/// Gathers what was done, so that not every small file is a message.
private final class ProgressReport: Sendable {
    private struct State {
        var bytes: Int64 = 0
        var entries: Int64 = 0
        var due: Int64 = 0
    }

    /// Bytes after which the daemon is told at once, and nanoseconds after which it is told anything.
    private static let portion: Int64 = 8 << 20
    private static let pause: Int64 = 50_000_000

    private let state = Mutex(State())

    func add(_ bytes: Int64, _ entries: Int64) {
        state.withLock { state in
            state.bytes += bytes
            state.entries += entries
            var time = timespec()
            // Read from memory that the kernel shares: no system call.
            clock_gettime(CLOCK_MONOTONIC, &time)
            let now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
            guard state.bytes >= Self.portion || now >= state.due else { return }
            UnpackWorker.say(.progress(bytes: state.bytes, entries: state.entries))
            state = State(due: now + Self.pause)
        }
    }
}
