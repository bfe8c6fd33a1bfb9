// Small files that have names of their own and may be written again, unlike the objects of lockers.

export interface NamedFiles {
  /** Null where there is none. */
  read(name: string): Promise<Uint8Array | null>
  /** As a whole, and durable when it resolves. A file of the same name is replaced. */
  write(name: string, bytes: Uint8Array): Promise<void>
  /** Succeeds also where there is none. */
  remove(name: string): Promise<void>
}
