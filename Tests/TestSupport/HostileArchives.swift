/// Archives made to get out of the folder that they are unpacked to, or to leave there what harms: each with a name
/// that says what it does.
package enum HostileArchives {
    /// All of them, with names that end as archives' do. `victim`: a file of the machine that they are after.
    package static func all(victim: String) -> [(name: String, bytes: [UInt8])] {
        let cpio = CpioBuilder.archive([("good", 7, 1, "x"), ("../escaped", 8, 1, "x")])
        return tars(victim: victim) + zips(victim: victim) + [("traversal.cpio", cpio)]
    }

    private static func tars(victim: String) -> [(name: String, bytes: [UInt8])] {
        func tar(_ name: String, _ make: (inout TarBuilder) -> Void) -> (name: String, bytes: [UInt8]) {
            var tar = TarBuilder()
            tar.add("good", content: "x")
            make(&tar)
            return (name + ".tar", tar.finished)
        }
        let up = String(repeating: "../", count: 12)
        return [
            tar("traversal") { $0.add("../escaped", content: "x") },
            tar("deep-traversal") { $0.add("a/" + up + "tmp/escaped", content: "x") },
            tar("absolute") { $0.add("/escaped", content: "x") },
            tar("absolute-victim") { $0.add(victim, content: "x") },
            tar("link-out") { $0.add("l", .symbolicLink, target: victim) },
            tar("link-up") { $0.add("l", .symbolicLink, target: "../..") },
            tar("through-link") {
                $0.add("l", .symbolicLink, target: "/tmp")
                $0.add("l/escaped", content: "x")
            },
            tar("through-inner-link") {
                $0.add("d/", .folder, mode: 0o755)
                $0.add("l", .symbolicLink, target: "d")
                $0.add("l/escaped", content: "x")
            },
            tar("link-through-link") {
                $0.add("a", .symbolicLink, target: ".")
                $0.add("b", .symbolicLink, target: "a/..")
                $0.add("b/escaped", content: "x")
            },
            tar("link-over-file") {
                $0.add("f", content: "x")
                $0.add("f", .symbolicLink, target: victim)
                $0.add("f", content: "y")
            },
            tar("folder-then-link") {
                $0.add("d/", .folder, mode: 0o755)
                $0.add("d", .symbolicLink, target: "/tmp")
                $0.add("d/escaped", content: "x")
            },
            tar("hard-link-out") {
                $0.add("h", .hardLink, target: victim)
                $0.add("h", content: "overwritten")
            },
            tar("hard-link-through-link") {
                $0.add("l", .symbolicLink, target: "/")
                $0.add("h", .hardLink, target: "l" + victim)
            },
            tar("device") { $0.add("d", .characterDevice) },
            tar("fifo") { $0.add("p", .fifo) },
            tar("set-user-id") { $0.add("s", content: "#!/bin/sh", mode: 0o4755) },
            tar("control-character") { $0.add("a\u{1B}]0;b\u{7}", content: "x") },
        ]
    }

    private static func zips(victim: String) -> [(name: String, bytes: [UInt8])] {
        func zip(_ name: String, _ make: (inout ZipBuilder) -> Void) -> (name: String, bytes: [UInt8]) {
            var zip = ZipBuilder()
            zip.add("good", content: "x")
            make(&zip)
            return (name + ".zip", zip.finished)
        }
        var other = ZipBuilder.Oddity()
        other.localName = Array("../escaped".utf8)
        return [
            zip("zip-traversal") { $0.add("../escaped", content: "x") },
            zip("zip-absolute") { $0.add("/escaped", content: "x") },
            zip("zip-backslash") { $0.add("..\\escaped", content: "x") },
            zip("zip-nul") { $0.add(Array("a\0/../escaped".utf8), content: [1]) },
            zip("zip-link-out") { $0.add("l", content: victim, mode: 0o120777) },
            zip("zip-through-link") {
                $0.add("l", content: "/tmp", mode: 0o120777)
                $0.add("l/escaped", content: "x")
            },
            zip("zip-other-local-name") { $0.add("xx/escaped", content: "x", other) },
            zip("zip-set-user-id") { $0.add("s", content: "x", mode: 0o104755) },
            zip("zip-device") { $0.add("d", mode: 0o020644) },
        ]
    }
}
