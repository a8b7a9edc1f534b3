/// A memory without any content.
package struct NothingSeen: SeenContent {
    package init() {}

    package func first(_ content: SeenQuery) throws(Failure) -> SeenJob? { nil }
}
