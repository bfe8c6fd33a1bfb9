// Small files with fixed names that may be replaced, unlike the objects of lockers.

export interface NamedFiles {
  /** Null when there is no such file. */
  read(name: string): Promise<Uint8Array | null>
  /** Written completely, and durable when it resolves. A file of the same name is replaced. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Also succeeds when there is no such file. */
  remove(name: string): Promise<void>
}
