// SHA-256 in a thread of its own. Hashing gigabytes in the main thread would delay all requests.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'

export interface HashThread<Opening> {
  /** Hashes may run concurrently. The program of the thread decides what the opening means. */
  begin(opening: Opening): ThreadHash
}

export interface ThreadHash {
  /** Copies the piece. Waits while too much is queued. */
  take(piece: Uint8Array): Promise<void>
  /** Whatever else the program understands. */
  tell(message: string): void
  /** What the thread answers to what it was told, and at the end of all pieces. */
  answer(): Promise<unknown>
  /** Hex. */
  end(): Promise<string>
  /** Call it always, also for a hash that is abandoned. */
  close(): void
}

/**
 * What the program receives for each hash. Pieces follow on the port, then null. Each piece is sent back, or null for one
 * that the program keeps.
 */
export interface OpenedHash<Opening> {
  port: MessagePort
  opening: Opening
}

/** A message costs as much as hashing some kilobytes, so small pieces are put together. */
const PIECE_BYTES = 512 * 1024
const MAX_WAITING = 4

/** The thread starts with the first hash, and again after a failure. */
export function createHashThread<Opening>(program: URL): HashThread<Opening> {
  let worker: Worker | null = null
  let failure: unknown

  function start(): Worker {
    const started = new Worker(program)
    // Pending hashes fail when their port closes.
    started.on('error', (error) => {
      failure = error
    })
    started.on('exit', () => {
      if (worker === started) worker = null
    })
    started.unref()
    return started
  }

  return {
    begin(opening) {
      worker ??= start()
      const { port1: port, port2: theirs } = new MessageChannel()
      worker.postMessage({ port: theirs, opening } satisfies OpenedHash<Opening>, [theirs])
      return feed(port, () => new Error('the hashing thread has ended', { cause: failure }))
    },
  }
}

function feed(port: MessagePort, ended: () => Error): ThreadHash {
  const spare: Uint8Array<ArrayBuffer>[] = []
  const answers: unknown[] = []
  let waiting = 0
  let isOpen = true
  let room: Uint8Array<ArrayBuffer> | null = null
  let filled = 0
  let wake = () => {}
  port.on('message', (message: Uint8Array<ArrayBuffer> | null | string | string[]) => {
    if (typeof message === 'string' || Array.isArray(message)) answers.push(message)
    else {
      waiting--
      // A piece that the thread keeps does not come back.
      if (message) spare.push(message)
    }
    wake()
  })
  port.on('close', () => {
    isOpen = false
    wake()
  })

  async function until(isReady: () => boolean): Promise<void> {
    while (!isReady()) {
      if (!isOpen) throw ended()
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  async function send(piece: Uint8Array<ArrayBuffer>): Promise<void> {
    room = null
    filled = 0
    await until(() => waiting < MAX_WAITING)
    waiting++
    port.postMessage(piece, [piece.buffer])
  }

  async function answer(): Promise<unknown> {
    await until(() => answers.length > 0)
    return answers.shift()
  }

  return {
    async take(piece) {
      for (let at = 0; at < piece.length; ) {
        room ??= spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
        const part = piece.subarray(at, at + room.length - filled)
        room.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === room.length) await send(room)
      }
    },
    tell: (message) => port.postMessage(message),
    answer,
    async end() {
      if (room) await send(room.subarray(0, filled))
      port.postMessage(null)
      return String(await answer())
    },
    close: () => port.close(),
  }
}
