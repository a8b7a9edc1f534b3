import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// Takes connections from a listening socket, so many at a time, until it is told to stop.
struct Listener: Sendable {
    /// How many are served at once; one more is closed at once.
    static let most = 256

    let connection: Connection
    let log: Logger

    /// Serves until the task is cancelled. The descriptor is this one's from now on.
    func run(on descriptor: Int32, group: any EventLoopGroup) async throws {
        let count = ConnectionCount()
        let server = try await ServerBootstrap(group: group)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .bind(descriptor) { (channel: any Channel) -> EventLoopFuture<Connection.Value> in
                guard count.take(below: Self.most) else {
                    channel.close(promise: nil)
                    return channel.eventLoop.makeFailedFuture(ChannelError.inappropriateOperationForState)
                }
                channel.closeFuture.whenComplete { _ in count.give() }
                return connection.setup(channel: channel, logger: log)
            }
        try await server.executeThenClose { inbound in
            await withDiscardingTaskGroup { tasks in
                do {
                    for try await channel in inbound {
                        tasks.addTask { await connection.handle(value: channel, logger: log) }
                    }
                } catch is CancellationError {
                    // It is to end.
                } catch {
                    log.warning("connections are not taken any more: \(error)")
                }
                tasks.cancelAll()
            }
        }
    }
}
