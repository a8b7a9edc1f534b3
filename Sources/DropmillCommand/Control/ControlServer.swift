import Control
@preconcurrency import Dispatch
import Files
import Glibc
import SystemPackage

/// Answers requests on the control socket. Slow, hostile or numerous clients cost the daemon only these
/// few descriptors: nothing blocks, and message sizes, time and the number of connections are limited.
actor ControlServer: QueueActor {
    /// Connections at once; others are told so, and closed.
    static let mostConnections = 16
    /// Of these, of one user who is neither root nor the daemon's.
    static let mostOfOthers = 6
    /// Of these, of all of them together: there is always room for those who look after the daemon.
    static let mostOfAllOthers = 12
    /// How often the socket's name is checked.
    private static let glance = Duration.seconds(20)
    /// How long a connection may do nothing while nothing is due from us.
    private static let patience = Duration.seconds(5)
    /// The same for one on which a file comes, which says so from time to time.
    private static let patienceWithFiles = Duration.seconds(90)

    nonisolated let executor = QueueExecutor(label: "dropmill.control")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let folder: FilePath
    private let table: ControlTable
    private var listener: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var connections: [Int: ControlConnection] = [:]
    private var lastNumber = 0
    /// The socket's inode, to recognise it.
    private var inode: UInt64?

    private init(folder: FilePath, table: ControlTable) {
        self.folder = folder
        self.table = table
    }

    /// Begins to answer. This process must hold the lock on the state folder: an existing socket is a leftover.
    static func open(in folder: FilePath, _ table: ControlTable) throws(IOError) -> ControlServer {
        let server = ControlServer(folder: folder, table: table)
        let failure = server.sync { server in
            do throws(IOError) {
                try server.open()
                return nil as IOError?
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        return server
    }

    private func open() throws(IOError) {
        let descriptor = ControlSocket.make(blocking: false)
        guard descriptor >= 0 else { throw IOError("make the socket", folder.appending(ControlSocket.name), .last) }
        do throws(IOError) {
            try bind(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        listen(on: descriptor)
        stayInPlace()
    }

    private func bind(_ descriptor: Int32) throws(IOError) {
        let path = folder.appending(ControlSocket.name)
        _ = path.withPlatformString { unlink($0) }
        // Before it is bound, so that others can never connect.
        guard fchmod(descriptor, 0o600) == 0 else { throw IOError("make the socket", path, .last) }
        let bound = try ControlSocket.withAddress(in: folder) { Glibc.bind(descriptor, $0, $1) }
        guard bound == 0, Glibc.listen(descriptor, Int32(Self.mostConnections)) == 0 else {
            throw IOError("make the socket", path, .last)
        }
        inode = FileIdentity.of(path)?.inode
        try openToGroup()
    }

    /// Answers others from now on. Where they cannot be let in they find the socket closed.
    nonisolated func admit(_ access: ControlAccess) throws(IOError) {
        table.admit(access)
        let failure = sync { server in
            do throws(IOError) {
                try server.openToGroup()
                return nil as IOError?
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Lets the members of the group connect, and nobody else.
    private func openToGroup() throws(IOError) {
        let path = folder.appending(ControlSocket.name)
        let group = table.access.group
        // By name: a descriptor of a socket leads to no file.
        let isDone = path.withPlatformString { name in
            (group.map { lchown(name, .max, $0) == 0 } ?? true) && chmod(name, group == nil ? 0o600 : 0o660) == 0
        }
        guard isDone else { throw IOError("open to its group", path, .last) }
    }

    /// Stops answering. The socket's name is removed, unless another daemon has replaced it.
    nonisolated func stop() { sync { server in server.end() } }

    private func end() {
        timer?.cancel()
        timer = nil
        listener?.cancel()
        listener = nil
        for connection in connections.values { connection.close() }
        connections = [:]
        let path = folder.appending(ControlSocket.name)
        if let inode, FileIdentity.of(path)?.inode == inode {
            _ = path.withPlatformString { unlink($0) }
        }
    }

    /// If the socket's name or its folder was removed or replaced, no client can connect any more.
    private func stayInPlace() {
        timer = executor.queue.every(Self.glance, leeway: .seconds(1)) { @Sendable [weak self] in
            self?.assumeIsolated { $0.returnToPlace() }
        }
    }

    private func returnToPlace() {
        let path = folder.appending(ControlSocket.name)
        guard listener != nil, FileStatus.of(path) == nil, errno == ENOENT else { return }
        let descriptor = ControlSocket.make(blocking: false)
        guard descriptor >= 0 else { return }
        do throws(IOError) {
            try bind(descriptor)
            listener?.cancel()
            listen(on: descriptor)
        } catch {
            // The next check tries again.
            close(descriptor)
        }
    }

    private func listen(on descriptor: Int32) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: executor.queue)
        source.setEventHandler { @Sendable [weak self] in self?.assumeIsolated { $0.accept(from: descriptor) } }
        source.setCancelHandler { @Sendable in _ = Glibc.close(descriptor) }
        source.activate()
        listener = source
    }

    private func accept(from listener: Int32) {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        let isReady = fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        guard isReady, let peer = ControlPeer(of: descriptor) else {
            close(descriptor)
            return
        }
        guard hasRoom(for: peer) else {
            let line = ControlLine.bytes(of: ControlReply<Nothing>.crowded)
            _ = Glibc.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL))
            close(descriptor)
            return
        }
        lastNumber += 1
        let number = lastNumber
        let connection = ControlConnection(
            descriptor, peer, queue: executor.queue,
            isolated: { @Sendable [weak self] body in
                self?.assumeIsolated { server in
                    if let connection = server.connections[number] { body(connection) }
                }
            }, heard: { [weak self] line in self?.assumeIsolated { $0.hear(line, number) } },
            over: { [weak self] in self?.assumeIsolated { $0.connections[number] = nil } })
        connections[number] = connection
        connection.begin()
        watch(number)
    }

    private func hasRoom(for peer: ControlPeer) -> Bool {
        // Those on which files come are few by a rule of their own, and last as long as these take.
        let brief = connections.values.filter { $0.tie.kept == nil }
        guard brief.count < Self.mostConnections else { return false }
        let access = table.access
        if access.isOwn(peer) { return true }
        let others = brief.filter { !access.isOwn($0.peer) }
        return others.count < Self.mostOfAllOthers
            && others.count { $0.peer.user == peer.user } < Self.mostOfOthers
    }

    private func watch(_ number: Int) {
        enqueue(after: Self.patience) { server in
            guard let connection = server.connections[number] else { return }
            let patience = connection.tie.kept == nil ? Self.patience : Self.patienceWithFiles
            if connection.isIdle(for: patience) { connection.close() } else { server.watch(number) }
        }
    }

    private func hear(_ line: [UInt8], _ number: Int) {
        guard let connection = connections[number] else { return }
        table.serve(line, from: connection.peer, tie: connection.tie) { @Sendable [self] answer, isLast in
            enqueue { server in server.connections[number]?.send(answer, isLast: isLast) }
        }
    }
}
