import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// Takes connections from a listening socket, so many at a time, until it is told to stop.
struct Listener: Sendable {
    /// How many are served at once; for one more another one is closed that waits, or that one itself.
    static let most = 256

    let connection: Connection
    /// The addresses of proxies, which stand for many.
    let proxies: Set<String>
    let log: Logger

    /// Serves until the task is cancelled. The descriptor is this one's from now on.
    func run(on descriptor: Int32, group: any EventLoopGroup) async throws {
        let room = ConnectionRoom(for: Self.most, proxies: proxies)
        // Not by way of the listening channel, which lets go of what it has taken when it is closed: where nobody has
        // handled that, NIO ends the process.
        let (taken, take) = AsyncStream.makeStream(of: Connection.Value.self)
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                let entered = room.enter(from: channel.remoteAddress?.ipAddress) { channel.close(promise: nil) }
                guard let number = entered else {
                    channel.close(promise: nil)
                    return channel.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState)
                }
                channel.closeFuture.whenComplete { _ in room.leave(number) }
                let isBusy = { @Sendable isBusy in isBusy ? room.begin(number) : room.wait(number) }
                return connection.setup(channel: channel, logger: log, isBusy: isBusy).map { value in
                    let beginning = Beginning {
                        // One that comes too late ends at once.
                        if case .terminated = take.yield(value) { Task { await handle(value) }.cancel() }
                    }
                    do {
                        try channel.pipeline.syncOperations.addHandler(beginning, position: .first)
                    } catch {
                        beginning.begin()
                    }
                }
            }
            .withBoundSocket(descriptor).get()
        server.closeFuture.whenComplete { _ in take.finish() }
        // Not cancelled itself, so that all that were taken are handled, and be it to their end at once.
        let serving = Task {
            await withDiscardingTaskGroup { tasks in
                for await value in taken { tasks.addTask { await handle(value) } }
                tasks.cancelAll()
            }
        }
        await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            server.close(promise: nil)
        }
    }

    private func handle(_ value: Connection.Value) async { await connection.handle(value: value, logger: log) }
}
