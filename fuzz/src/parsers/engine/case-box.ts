/** The case that a thread is at, where another thread can read it. */
export interface CaseBox {
  memory: SharedArrayBuffer
  /** How many cases were begun. */
  count(): number
  write(input: Uint8Array): void
  read(): Uint8Array
}

const MAX_BYTES = 1_048_576
const HEAD_BYTES = 8

export function openCaseBox(memory = new SharedArrayBuffer(HEAD_BYTES + MAX_BYTES)): CaseBox {
  const [head, bytes] = [new Int32Array(memory, 0, 2), new Uint8Array(memory, HEAD_BYTES)]
  return {
    memory,
    count: () => Atomics.load(head, 0),
    write(input) {
      bytes.set(input.subarray(0, MAX_BYTES))
      Atomics.store(head, 1, Math.min(input.length, MAX_BYTES))
      Atomics.add(head, 0, 1)
    },
    read: () => bytes.slice(0, Atomics.load(head, 1)),
  }
}
