import SystemPackage
import TestSupport
import Testing

/// Many pipelines cost each what one costs.
@Suite(.enabled(if: Tool.find("strace") != nil, "needs strace")) struct ManyPipelinesTests {
    private func links(asking count: Int) throws -> Int {
        let scratch = try ScratchFolder()
        for number in 1...count {
            try scratch.write(
                """
                inbox: p\(number)/in
                processed: p\(number)/done
                failed: p\(number)/bad
                stages: [unpack, checksum, move: { to: "p\(number)/out/{stem}" }]

                """, to: "pipelines/p\(number).yaml")
        }
        let trace = scratch.path("trace")
        let run = try #require(Tool.find("strace")).run(
            [
                "-f", "-qq", "-o", trace.string, "-e", "trace=readlink,readlinkat", DropmillProcess.binary.string,
                "check",
                "pipelines",
            ], in: scratch.path)
        #expect(run.status == 0, "\(run.text)")
        return try scratch.text("trace").split(separator: "\n").count
    }

    @Test func eachIsCheckedInTheSameTime() throws {
        let (few, many) = (try links(asking: 20), try links(asking: 80))
        #expect(many < few * 5, "\(few) for 20, \(many) for 80")
    }
}
