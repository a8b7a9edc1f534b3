import Testing

@testable import FolderWatch

@Suite("FairOrder") struct FairOrderTests {
    private func place(_ producer: String, _ level: FairLevel = .usual) -> FairOrder.Place {
        FairOrder.Place(level, of: producer)
    }

    /// Takes what is next, so often; who had a turn.
    private func turns(_ count: Int, of order: inout FairOrder) -> [String] {
        (0..<count).compactMap { _ in
            guard let next = order.next else { return nil }
            order.take(next)
            return next.producer
        }
    }

    @Test("Of a thousand producers with a hundred drops each, none is ever ahead of another by more than one")
    func equal() {
        var order = FairOrder()
        for producer in 0..<1000 { for _ in 0..<100 { _ = order.join(place("p\(producer)")) } }
        var done = [String: Int](uniqueKeysWithValues: (0..<1000).map { ("p\($0)", 0) })
        var (least, most) = (0, 0)
        var atLeast = 0
        for _ in 0..<100_000 {
            guard let next = order.next else { break }
            order.take(next)
            done[next.producer, default: 0] += 1
            most = max(most, done[next.producer] ?? 0)
            // All that have as many as the least have now one more once a thousand turns are over.
            atLeast += 1
            least = atLeast / 1000
            #expect(most - least <= 1)
        }
        #expect(done.values.allSatisfy { $0 == 100 } && order.next == nil)
    }

    @Test("Weights say how often one has its turn, however many join and leave meanwhile")
    func weights() {
        var order = FairOrder(weights: ["acme": 3])
        for producer in ["acme", "zeta"] { for _ in 0..<1000 { _ = order.join(place(producer)) } }
        let turns = turns(400, of: &order)
        #expect(turns.count { $0 == "acme" } == 300)
        // At no time is it out by more than a round.
        for end in 1...400 {
            let acme = turns.prefix(end).count { $0 == "acme" }
            #expect(abs(Double(acme) - 0.75 * Double(end)) <= 3)
        }
    }

    @Test("One that comes later has its turn next, and none for the time before; one that was alone owes nothing")
    func latecomer() {
        var order = FairOrder()
        for _ in 0..<300 { _ = order.join(place("acme")) }
        _ = turns(20, of: &order)
        for _ in 0..<5 { _ = order.join(place("zeta")) }
        #expect(turns(10, of: &order).count { $0 == "zeta" } == 5)
        #expect(turns(1000, of: &order).allSatisfy { $0 == "acme" })
        #expect(order.next == nil)
    }

    @Test("Leaving and coming back again is no way to get more turns")
    func comingBack() {
        var order = FairOrder()
        for _ in 0..<1000 { _ = order.join(place("acme")) }
        var zeta = 0
        for _ in 0..<200 {
            // Never more than one that waits, and a new one as soon as that is taken.
            _ = order.join(place("zeta"))
            while let next = order.next {
                order.take(next)
                if next.producer == "zeta" {
                    zeta += 1
                    break
                }
            }
        }
        #expect(zeta == 200 && turns(700, of: &order).count > 550)
    }

    @Test("A level comes before lower ones; what a person put first or last before and behind all")
    func levels() {
        var order = FairOrder()
        for level in [.last, FairLevel(priority: -5), .usual, FairLevel(priority: 10), .aged, .first] {
            _ = order.join(place("a\(level.rank)", level))
            _ = order.join(place("b\(level.rank)", level))
        }
        #expect(
            turns(12, of: &order)
                == ["a0", "b0", "a1", "b1", "a92", "b92", "a102", "b102", "a107", "b107", "a203", "b203"])
    }

    @Test("Who is blocked is passed over, and has its turn again as soon as it may, once")
    func blocking() {
        var order = FairOrder()
        for _ in 0..<3 { for producer in ["acme", "zeta"] { _ = order.join(place(producer)) } }
        for _ in 0..<2 { order.block("acme") }
        #expect(turns(2, of: &order) == ["zeta", "zeta"] && order.isBlocked("acme"))
        // What comes meanwhile waits, too.
        _ = order.join(place("acme", .first))
        #expect(turns(5, of: &order) == ["zeta"] && order.next == nil)
        for _ in 0..<2 { order.unblock("acme") }
        #expect(order.next == place("acme", .first) && turns(9, of: &order).count == 4)
        order.block("other")
        #expect(order.join(place("other")) == place("other") && order.next == nil)
    }

    @Test("Beyond ten thousand producers the rest share a place, and places are given back")
    func many() {
        var order = FairOrder()
        var places: [FairOrder.Place] = []
        for producer in 0..<12_000 { places.append(order.join(place("p\(producer)"))) }
        #expect(places[9_999].producer == "p9999" && places[10_000].producer == FairOrder.others)
        var served = Set<String>()
        for _ in 0..<10_001 { served.formUnion(turns(1, of: &order)) }
        #expect(served.count == 10_001)
        #expect(turns(5_000, of: &order).count == 1_999 && order.next == nil)
        #expect(order.join(place("p11000")) == place("p11000"))
    }

    @Test("Whatever comes, is taken and leaves, none that waits is forgotten, and none is served that does not wait")
    func random() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var order = FairOrder(weights: ["p1": 7, "p2": 2])
            var waiting: [FairOrder.Place: Int] = [:]
            for _ in 0..<400 {
                let level = [FairLevel.usual, .aged, .last][Int.random(in: 0..<3, using: &random)]
                let asked = place("p\(Int.random(in: 0..<6, using: &random))", level)
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1: waiting[order.join(asked), default: 0] += 1
                case 2:
                    if waiting[asked, default: 0] > 0 {
                        order.leave(asked)
                        waiting[asked]? -= 1
                    }
                case 3:
                    if Bool.random(using: &random) {
                        order.block(asked.producer)
                    } else {
                        order.unblock(asked.producer)
                    }
                default:
                    let open = waiting.filter { $0.value > 0 && !order.isBlocked($0.key.producer) }
                    #expect((order.next == nil) == open.isEmpty)
                    guard let next = order.next else { continue }
                    #expect(open[next] != nil)
                    #expect(next.level == open.keys.map(\.level).min())
                    order.take(next)
                    waiting[next]? -= 1
                }
            }
        }
    }
}
