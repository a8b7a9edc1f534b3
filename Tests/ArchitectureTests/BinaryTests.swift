import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What packaging/check-elf.sh says of programs; `make release` and `make install` ask it of theirs.
@Suite(
    .enabled(
        if: Tool.find("readelf") != nil && Tool.find("gcc") != nil, Comment(rawValue: Tool.skip("readelf and gcc"))))
struct BinaryTests {
    private let check = Tool(House.root.appending("packaging/check-elf.sh"))

    @Test func thisBuildIsInOrder() throws {
        let program = DropmillBinary.path
        let objects = program.removingLastComponent().appending("CLinux.build")
        let output = try check.run(["--debug", program.string, objects.string])
        #expect(output.status == 0, "\(output.text)")
    }

    /// The rules must be able to fail: one flag of a small program is wrong each time.
    @Test(arguments: [
        ("-no-pie", "not position independent"),
        ("-Wl,-z,execstack", "executable stack"),
        ("-Wl,-z,norelro", "no read-only relocations"),
        ("-Wl,-z,lazy", "binds its symbols late"),
        ("-Wl,-rpath,$ORIGIN", "own (build with --disable-local-rpath): $ORIGIN"),
        ("-Wl,--disable-new-dtags,-rpath,/opt", "own (build with --disable-local-rpath): /opt"),
        ("-Wl,--defsym=icudt76_dat=0", "ICU's data inside"),
        ("-fno-stack-protector", "no object has a stack protector"),
        ("-U_FORTIFY_SOURCE", "no object has a fortified call"),
    ])
    func finds(_ flag: String, _ expected: String) throws {
        let output = try output(of: flag)
        #expect(output.status == 1 && output.text.contains(expected), "\(output.text)")
        #expect(output.text.split(separator: "\n").count == 1, "\(output.text)")
    }

    @Test func acceptsWhatIsInOrder() throws {
        let output = try output(of: "-g")
        #expect(output.status == 0, "\(output.text)")
    }

    @Test func whatIsNoProgramIsNotInOrder() throws {
        let output = try check.run([House.root.appending("LICENSE").string])
        #expect(output.status != 0)
    }

    /// The check of a program that is built as it should be but for one flag.
    private func output(of flag: String) throws -> Tool.Output {
        let folder = try ScratchFolder()
        let source = try folder.write(
            #"""
            #include <string.h>
            int main(int count, char **arguments) { char a[64]; strcpy(a, arguments[0]); return a[count]; }
            """#, to: "a.c")
        let gcc = try #require(Tool.find("gcc"))
        let object = folder.path("objects/a.o"), program = folder.path("a")
        try Folder.make(folder.path("objects"))
        let flags = ["-O2", "-fPIE", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
        let compiled = try gcc.run(flags + [flag, "-c", source.string, "-o", object.string])
        #expect(compiled.status == 0, "\(compiled.text)")
        let linked = try gcc.run([
            "-pie", "-Wl,-z,relro,-z,now,-z,noexecstack", flag, object.string, "-o", program.string,
        ])
        #expect(linked.status == 0, "\(linked.text)")
        return try check.run([program.string, folder.path("objects").string])
    }
}
