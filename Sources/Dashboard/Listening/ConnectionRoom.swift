import Glibc
import Synchronization

/// Which connections there are. Where there is no room for another one, the one that has waited longest for a request
/// makes it, of those of the address that has the most that wait: whoever opens many keeps nobody out.
final class ConnectionRoom: Sendable {
    private struct Entry {
        /// Whose it is; nil where that says nothing, as on a Unix socket.
        let address: String?
        /// By when it began to wait for a request; nil while one is under way.
        var waiting: Int?
        let close: @Sendable () -> Void
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0

        mutating func number() -> Int {
            last &+= 1
            return last
        }
    }

    private let most: Int
    private let mostOfOne: Int
    private let proxies: Set<String>
    private let state = Mutex(State())

    /// `proxies`: addresses that stand for many, as those of this host do: one of these may have all there is.
    init(for most: Int, proxies: Set<String> = []) {
        (self.most, mostOfOne, self.proxies) = (most, max(1, most / 2), proxies)
    }

    /// Takes one, which waits; nil where there is no room. `close`: called where it is to make room later.
    func enter(from address: String?, close: @escaping @Sendable () -> Void) -> Int? {
        let key = address.flatMap(key)
        let (number, closing) = state.withLock { state -> (Int?, (@Sendable () -> Void)?) in
            var closing: (@Sendable () -> Void)?
            let own = key == nil ? 0 : state.entries.values.count { $0.address == key }
            if state.entries.count >= most || own >= mostOfOne {
                guard let left = oldest(among: state.entries, of: own >= mostOfOne ? key : nil) else {
                    return (nil, nil)
                }
                closing = state.entries.removeValue(forKey: left)?.close
            }
            let number = state.number()
            state.entries[number] = Entry(address: key, waiting: number, close: close)
            return (number, closing)
        }
        closing?()
        return number
    }

    /// A request has begun.
    func begin(_ number: Int) { state.withLock { $0.entries[number]?.waiting = nil } }

    /// All of its requests are answered.
    func wait(_ number: Int) {
        state.withLock { state in
            let now = state.number()
            state.entries[number]?.waiting = now
        }
    }

    func leave(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

    /// `address`: only one of its.
    private func oldest(among entries: [Int: Entry], of address: String?) -> Int? {
        var waiting = entries.filter { $0.value.waiting != nil }
        if let address {
            waiting = waiting.filter { $0.value.address == address }
        } else {
            let counts = Dictionary(grouping: waiting.values, by: \.address).mapValues(\.count)
            let most = counts.values.max()
            waiting = waiting.filter { counts[$0.value.address] == most }
        }
        return waiting.min { ($0.value.waiting ?? 0) < ($1.value.waiting ?? 0) }?.key
    }

    /// Of IPv6 a host has as many as it likes, that begin with the same 64 bits.
    private func key(_ address: String) -> String? {
        if proxies.contains(address) || address == "::1" || address.hasPrefix("127.") { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, address, &bytes) == 1, bytes.prefix(8).contains(where: { $0 != 0 }) else {
            return address
        }
        return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
