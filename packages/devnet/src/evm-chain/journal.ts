import { appendFileSync, closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Hash } from 'viem'

/** One request that changes the chain, the time of its block, and the head it was built on. */
export type Entry = { method: string; params: readonly unknown[]; time: number; head: Hash }

type Genesis = { chain: typeof FORMAT; time: number }

const FORMAT = 'svc-dev-evm/1'

export type Journal = { genesisTime: number; past: readonly Entry[]; append(entry: Entry): void; close(): void }

/**
 * EDR keeps nothing on disk and cannot dump its state, but the same requests at the same times give the same blocks, hash
 * for hash. So the file holds the requests, one JSON line each, written before they are executed.
 */
export function openJournal(file: string, now: number): Journal {
  const stored = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  if (stored.length > 0 && !stored.toString('utf8', 0, 64).startsWith(`{"chain":"${FORMAT}"`)) {
    throw new Error(`${file} is not a journal of this chain (${FORMAT}): move it away.`)
  }
  // A process killed while writing leaves an incomplete last line: that request was never executed.
  let length = stored.lastIndexOf('\n') + 1
  const [first, ...past] = readLines(stored.subarray(0, length), file)
  mkdirSync(dirname(file), { recursive: true })
  const fd = openSync(file, 'a')
  const genesis = (first ?? write({ chain: FORMAT, time: now })) as Genesis
  return { genesisTime: genesis.time, past: past as Entry[], append: write, close: () => closeSync(fd) }

  function write<T extends Genesis | Entry>(line: T): T {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    ftruncateSync(fd, length) // Removes an incomplete line that a crash or a full disk left.
    appendFileSync(fd, bytes)
    length += bytes.length
    return line
  }
}

function readLines(text: Buffer, file: string): unknown[] {
  const lines = text.toString().split('\n').slice(0, -1)
  return lines.map((line, index) => {
    try {
      return JSON.parse(line)
    } catch {
      throw new Error(
        `${file}, line ${index + 1}, is not JSON: move the file away, or remove this line and all after it.`,
      )
    }
  })
}
