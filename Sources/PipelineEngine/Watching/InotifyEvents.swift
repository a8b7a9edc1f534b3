@preconcurrency import Dispatch
import Glibc
package import PipelineKit
import Synchronization
package import SystemPackage

/// What the kernel says of a watched folder. A hint to look, never a fact to decide on.
package enum FolderEvent: Sendable, Equatable {
    /// A name appeared (created, or moved in).
    case appeared(FileName)
    /// A file was written to, closed after writing, or its metadata changed.
    case touched(FileName)
    /// A name is gone (deleted, or moved out).
    case vanished(FileName)
    /// Events were lost, or the folder itself is gone, moved or unmounted: only a scan can tell.
    case uncertain(Uncertainty)

    /// Why only a scan can tell.
    package enum Uncertainty: Sendable, Equatable {
        /// The kernel's queue ran over.
        case overflow
        /// The folder was deleted, moved or unmounted; the watch is void.
        case folderGone
    }
}

/// One inotify descriptor for the whole daemon, read through a Dispatch source; each watched folder has a handler.
package final class InotifyEvents: Sendable {
    /// A watched folder.
    package struct Watch: Hashable, Sendable {
        fileprivate let descriptor: Int32
    }

    package typealias Handler = @Sendable ([FolderEvent]) -> Void

    private struct State {
        var handlers: [Int32: Handler] = [:]
        var source: (any DispatchSourceRead)?
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "dropmill.inotify")
    private let state = Mutex(State())

    /// What is listened to. A hard link gives CREATE only, `mv` MOVED_TO only, a memory-mapped writer CLOSE_WRITE at
    /// its last unmap (measured).
    private static let mask = UInt32(
        IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR)

    /// Opens the descriptor and begins to read. Throws where the user's limit of instances is reached
    /// (fs.inotify.max_user_instances) or the process has no descriptor left.
    package init() throws(IOError) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw IOError("open inotify for", "/proc/sys/fs/inotify", .last) }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let descriptor = descriptor
        source.setEventHandler { @Sendable [weak self] in self?.read() }
        // Only here may it be closed: the source still looks at it until then.
        source.setCancelHandler { @Sendable in _ = Glibc.close(descriptor) }
        state.withLock { $0.source = source }
        source.activate()
    }

    deinit { stop() }

    /// Ends all watches and closes the descriptor. Calling it again does nothing.
    package func stop() {
        let source = state.withLock { state in
            state.handlers = [:]
            defer { state.source = nil }
            return state.source
        }
        source?.cancel()
    }

    /// Watches a folder; the handler is called on a queue of this object. Throws ENOSPC where the user's limit of
    /// watches is reached (fs.inotify.max_user_watches).
    package func watch(_ folder: FilePath, handler: @escaping Handler) throws(IOError) -> Watch {
        // Within the lock, so that no event is read before its handler is known.
        let result: Result<Watch, IOError> = state.withLock { state in
            guard state.source != nil else { return .failure(IOError("watch", folder, .badFileDescriptor)) }
            let watch = folder.withPlatformString { inotify_add_watch(descriptor, $0, Self.mask) }
            guard watch >= 0 else { return .failure(IOError("watch", folder, .last)) }
            state.handlers[watch] = handler
            return .success(Watch(descriptor: watch))
        }
        return try result.get()
    }

    /// Ends one watch; its handler is not called for events read from now on.
    package func end(_ watch: Watch) {
        state.withLock { state in
            guard state.source != nil, state.handlers.removeValue(forKey: watch.descriptor) != nil else { return }
            // Fails only where the kernel ended the watch itself, which is as good.
            _ = inotify_rm_watch(descriptor, watch.descriptor)
        }
    }

    /// Runs the body on the reading queue, so that nothing is read meanwhile: for tests of a kernel queue that runs
    /// over.
    func whileNotReading(_ body: @escaping @Sendable () -> Void) { queue.async { @Sendable in body() } }

    /// Reads what there is, in batches of 64 KiB, and hands each folder its events in the kernel's order.
    private func read() {
        dispatchPrecondition(condition: .onQueue(queue))
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
            let count = retrying { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
            // EAGAIN: nothing there. The source calls again when there is more.
            guard count > 0 else { return }
            deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private func deliver(_ buffer: UnsafeRawBufferPointer) {
        var batches: [Int32: [FolderEvent]] = [:]
        var overflowed = false
        var offset = 0
        let headerSize = MemoryLayout<inotify_event>.size
        while offset + headerSize <= buffer.count {
            let header = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let nameEnd = min(buffer.count, offset + headerSize + Int(header.len))
            let name = FileName(buffer[(offset + headerSize)..<nameEnd].prefix { $0 != 0 })
            offset = nameEnd
            if header.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                overflowed = true
            } else if let event = Self.event(header.mask, name) {
                batches[header.wd, default: []].append(event)
            }
        }
        let handlers = state.withLock { $0.handlers }
        if overflowed {
            for handler in handlers.values { handler([.uncertain(.overflow)]) }
        }
        for (watch, events) in batches { handlers[watch]?(events) }
    }

    private static func event(_ mask: UInt32, _ name: FileName?) -> FolderEvent? {
        if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 {
            return .uncertain(.folderGone)
        }
        guard let name else { return nil }
        if mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0 { return .appeared(name) }
        if mask & UInt32(IN_MOVED_FROM | IN_DELETE) != 0 { return .vanished(name) }
        return .touched(name)
    }
}
