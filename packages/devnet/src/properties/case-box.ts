/** The current case of a thread, readable from another thread. */
export interface CaseBox {
  memory: SharedArrayBuffer
  /** The number of the case; 0 between properties. */
  current(): number
  write(input: Uint8Array): void
  read(): Uint8Array
  clear(): void
}

const MAX_BYTES = 1_048_576
const HEAD_BYTES = 8

export function openCaseBox(memory = new SharedArrayBuffer(HEAD_BYTES + MAX_BYTES)): CaseBox {
  const [head, bytes] = [new Int32Array(memory, 0, 2), new Uint8Array(memory, HEAD_BYTES)]
  let count = 0
  return {
    memory,
    current: () => Atomics.load(head, 0),
    write(input) {
      bytes.set(input.subarray(0, MAX_BYTES))
      Atomics.store(head, 1, Math.min(input.length, MAX_BYTES))
      Atomics.store(head, 0, ++count)
    },
    read: () => bytes.slice(0, Atomics.load(head, 1)),
    clear: () => void Atomics.store(head, 0, 0),
  }
}
