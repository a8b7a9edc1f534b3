import Files
import Testing

@testable import FolderWatch

@Suite("FolderRest") struct FolderRestTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("Nothing is due before anything was seen")
    func unseen() {
        let rest = FolderRest(quiet: .seconds(1), samples: 2)
        #expect(rest.nextLook == nil)
        #expect(!rest.isSettled)
    }

    @Test("It is at rest once so many looks agree, the change being the first", arguments: 2...5)
    func samples(_ samples: Int) {
        var rest = FolderRest(quiet: .seconds(10), samples: samples)
        rest.change(at: at(100))
        for look in 1..<samples {
            #expect(rest.nextLook == at(100 + 10 * Int64(look)))
            #expect(!rest.isSettled)
            #expect(rest.look(isSame: true, at: at(100 + 10 * Int64(look))) == (look == samples - 1))
        }
        #expect(rest.isSettled)
        #expect(rest.nextLook == nil)
    }

    @Test("The next look is due so much later than the last one was made, be it late")
    func late() {
        var rest = FolderRest(quiet: .seconds(10), samples: 3)
        rest.change(at: at(0))
        #expect(rest.look(isSame: true, at: at(17)) == false)
        #expect(rest.nextLook == at(27))
    }

    @Test("A change begins the wait anew, whether it is told of or found")
    func change() {
        var rest = FolderRest(quiet: .seconds(10), samples: 3)
        rest.change(at: at(0))
        #expect(rest.look(isSame: true, at: at(10)) == false)
        rest.change(at: at(15))
        #expect(rest.nextLook == at(25))
        #expect(rest.look(isSame: true, at: at(25)) == false)
        #expect(rest.look(isSame: false, at: at(35)) == false)
        #expect(rest.nextLook == at(45))
        #expect(rest.look(isSame: true, at: at(45)) == false)
        #expect(rest.look(isSame: true, at: at(55)) == true)
        rest.change(at: at(60))
        #expect(!rest.isSettled)
        #expect(rest.nextLook == at(70))
    }

    @Test("A look that cannot be made is made later, and counts then")
    func postponed() {
        var rest = FolderRest(quiet: .seconds(10), samples: 2)
        rest.change(at: at(0))
        rest.postpone(to: at(11))
        #expect(rest.nextLook == at(11))
        #expect(rest.look(isSame: true, at: at(11)) == true)
    }
}
