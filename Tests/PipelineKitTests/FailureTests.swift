import Files
import PipelineKit
import Testing

@Suite struct FailureTests {
    @Test(
        arguments: [
            (IOError("write", "/out/a", .noSpace), .environment, "io.write"),
            (IOError("open", "/in/a", .permissionDenied), .environment, "io.open"),
            (IOError("create", "/out/a", .fileNameTooLong), .file, "io.create"),
            (IOError("create the folder", "/out/a", .fileNameTooLong), .file, "io.create-folder"),
            (IOError("set the mode of", "/out/a", .fileNameTooLong), .file, "io.set-mode"),
            (IOError("use as work folder", "/w", .noSpace), .environment, "io.use-work-folder"),
        ] as [(IOError, Failure.Class, String)])
    func classesSystemErrors(_ error: IOError, _ expected: Failure.Class, _ code: String) {
        let failure = Failure(error)
        #expect(failure.class == expected)
        #expect(failure.code == code)
        #expect(failure.summary.contains(error.path.string))
        #expect(!failure.remedy.isEmpty)
    }

    @Test("A drop that cannot be read fails alone; what a stage cannot write is the surroundings' fault")
    func classesSystemErrorsOfStages() {
        #expect(Failure(inStage: IOError("open", "/in/a", .permissionDenied)).class == .file)
        #expect(Failure(inStage: IOError("read", "/in/a", .noSuchFileOrDirectory)).class == .file)
        #expect(Failure(inStage: IOError("read", "/in/a", .ioError)).class == .environment)
        #expect(Failure(inStage: IOError("create", "/spool/a", .permissionDenied)).class == .environment)
    }
}
