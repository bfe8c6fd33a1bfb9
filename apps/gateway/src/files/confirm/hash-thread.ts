// SHA-256 in a thread of its own. Hashing gigabytes in the main thread would delay all requests.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'

export interface HashThread<Opening> {
  /** Hashes may run concurrently. The program of the thread decides what the opening means. */
  begin(opening: Opening, route?: PieceRoute): ThreadHash
}

type Piece = Uint8Array<ArrayBuffer>

/** Where pieces go that the thread is done with, instead of being filled again; null for one that it keeps. */
interface PieceRoute {
  done(piece: Piece | null): void
  /** The thread has ended. */
  ended(): void
}

export interface ThreadHash {
  /** Copies the chunk. */
  take(chunk: Uint8Array): void
  /** Takes what is read straight into a piece; returns its length, which is 0 at the end. */
  takeRead(readInto: (piece: Buffer) => Promise<number>): Promise<number>
  /** So much is queued that nothing more should be taken for now. */
  isFull(): boolean
  /** Until it is not full. */
  drained(): Promise<void>
  /** Hands over a whole piece, which is empty afterwards. */
  pass(piece: Piece): void
  /** A piece that can be filled again. */
  recycle(piece: Piece | null): void
  /** Whatever else the program understands, after all that was taken. */
  tell(message: string): void
  /** What the program answers to an opening or to the end of the pieces. */
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
const PIECE_BYTES = 256 * 1024
const MAX_WAITING = 4
/** Of all hashes of a thread together: what they leave as garbage would be collected at a greater cost. */
const MAX_SPARE = 8

/** The thread starts with the first hash, and again after a failure. */
export function createHashThread<Opening>(program: URL): HashThread<Opening> {
  let worker: Worker | null = null
  let failure: unknown
  const spare: Piece[] = []

  function start(): Worker {
    const started = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 2, stackSizeMb: 1 } })
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
    begin(opening, route) {
      worker ??= start()
      const { port1: port, port2: theirs } = new MessageChannel()
      worker.postMessage({ port: theirs, opening } satisfies OpenedHash<Opening>, [theirs])
      return feed(port, spare, () => new Error('the hashing thread has ended', { cause: failure }), route)
    },
  }
}

/** Of bytes that belong to nothing else. */
export function plainHashThread(): HashThread<null> {
  return createHashThread(new URL('./hash-worker.ts', import.meta.url))
}

function feed(port: MessagePort, spare: Piece[], ended: () => Error, route?: PieceRoute): ThreadHash {
  const answers: unknown[] = []
  /** Pieces that were sent and did not come back. */
  let waiting = 0
  let isOpen = true
  let room: Piece | null = null
  let filled = 0
  /** Those who wait for a change. */
  const waiters: (() => void)[] = []

  function newPiece(): Piece {
    const piece = spare.pop()
    return piece ? new Uint8Array(piece.buffer) : Buffer.allocUnsafeSlow(PIECE_BYTES)
  }

  function wake(): void {
    for (const resume of waiters.splice(0)) resume()
  }

  function recycle(piece: Piece | null): void {
    waiting--
    if (piece && spare.length < MAX_SPARE) spare.push(piece)
    else piece?.buffer.transfer(0)
    wake()
  }

  port.on('message', (message: Piece | null | string | string[]) => {
    if (typeof message === 'string' || Array.isArray(message)) {
      answers.push(message)
      wake()
    } else if (route) route.done(message)
    else recycle(message)
  })
  port.on('close', () => {
    isOpen = false
    wake()
    route?.ended()
  })

  async function until(isReady: () => boolean): Promise<void> {
    while (!isReady()) {
      if (!isOpen) throw ended()
      await new Promise<void>((resolve) => waiters.push(resolve))
    }
  }

  function pass(piece: Piece): void {
    port.postMessage(piece, [piece.buffer])
  }

  function send(piece: Piece): void {
    room = null
    filled = 0
    waiting++
    pass(piece)
  }

  async function answer(): Promise<unknown> {
    await until(() => answers.length > 0)
    return answers.shift()
  }

  return {
    take(chunk) {
      for (let at = 0; at < chunk.length; ) {
        room ??= newPiece()
        const part = chunk.subarray(at, at + room.length - filled)
        room.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === room.length) send(room)
      }
    },
    async takeRead(readInto) {
      const piece = Buffer.from(newPiece().buffer)
      const length = await readInto(piece)
      if (length > 0) send(piece.subarray(0, length))
      return length
    },
    isFull: () => waiting >= MAX_WAITING,
    drained: () => until(() => waiting < MAX_WAITING),
    pass,
    recycle,
    tell(message) {
      if (room) send(room.subarray(0, filled))
      port.postMessage(message)
    },
    answer,
    async end() {
      if (room) send(room.subarray(0, filled))
      port.postMessage(null)
      return String(await answer())
    },
    close: () => port.close(),
  }
}
