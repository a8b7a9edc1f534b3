import Files
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

@Suite("Long looks") struct LongLooksTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func look(_ name: String) throws -> LongLooks.Underway {
        try scratch.makeFolder(name)
        let parent = try OpenFile.openFolder(scratch.path)
        return LongLooks.Underway(
            path: DropPath(try name.fileName), deciding: false,
            look: try TreeLook(at: name.fileName, in: parent, asking: nil))
    }

    @Test("Who finds no room gets it in the order of asking, however often others ask")
    func order() throws {
        var looks = LongLooks()
        func ask(_ name: String) throws -> Bool { looks.add(try look(name)) }
        for number in 1...LongLooks.most { #expect(try ask("long-\(number)")) }
        #expect(try !ask("honest"))
        #expect(try !ask("late"))
        let honest = DropPath(try "honest".fileName)
        #expect(looks.isInLine(honest) && looks.called.isEmpty)
        // One that goes on keeps its place.
        let first = looks.next()
        let hasItsPlace = first.map { looks.add($0) }
        #expect(hasItsPlace == true)
        // One that is over, and asks again at once, stands behind the others.
        let over = looks.next()
        if let over { looks.forget(over.path) }
        #expect(try looks.called == [DropPath("honest".fileName)])
        #expect(try !ask("long-2"))
        #expect(try !ask("late"))
        #expect(try ask("honest"))
        if let first { looks.forget(first.path) }
        #expect(try looks.called == [DropPath("late".fileName)])
        looks.forget(DropPath(try "late".fileName))
        #expect(try looks.called == [DropPath("long-2".fileName)])
    }
}
