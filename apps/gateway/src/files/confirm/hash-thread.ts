// SHA-256 in a separate thread. Hashing gigabytes in the main thread would delay all requests.

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'

export interface HashThread<Opening> {
  /** Hashes may run concurrently. The thread's program defines the meaning of the opening. */
  begin(opening: Opening, route?: PieceRoute): ThreadHash
}

type Piece = Uint8Array<ArrayBuffer>

/**
 * Receives the pieces that the thread has processed, instead of reusing them; null for a piece that the thread keeps.
 */
interface PieceRoute {
  done(piece: Piece | null): void
  /** The thread has ended. */
  ended(): void
}

export interface ThreadHash {
  /** Copies the chunk. */
  write(chunk: Uint8Array): void
  /** Reads directly into a piece. Returns the number of bytes read, 0 at the end. */
  writeFrom(readInto: (piece: Buffer) => Promise<number>): Promise<number>
  /** The queue is full: write nothing more for now. */
  isFull(): boolean
  /** Resolves when the queue is no longer full. */
  drained(): Promise<void>
  /** Transfers a whole piece to the thread; it is empty afterwards. */
  pass(piece: Piece): void
  /** Returns a piece for reuse. */
  recycle(piece: Piece | null): void
  /** Sends another message of the program's protocol, after all pieces written so far. */
  sendMessage(message: string): void
  /** The program's answer to an opening or to the end of the pieces. */
  answer(): Promise<unknown>
  /** The hash in hex. */
  end(): Promise<string>
  /** Must always be called, even for an abandoned hash. */
  close(): void
}

/**
 * The message that opens a hash. Pieces follow on the port, then null. Each piece is sent back, or null for a piece
 * that the program keeps.
 */
export interface OpenedHash<Opening> {
  port: MessagePort
  opening: Opening
}

/** A message costs as much as hashing some kilobytes, so small pieces are merged. */
const PIECE_BYTES = 256 * 1024
const MAX_WAITING = 4
/** Shared by all hashes of a thread. Reusing buffers is cheaper than garbage collection. */
const MAX_SPARE = 8

/** The thread starts with the first hash, and restarts after a failure. */
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
      const { port1: port, port2: workerPort } = new MessageChannel()
      worker.postMessage({ port: workerPort, opening } satisfies OpenedHash<Opening>, [workerPort])
      return feed(port, spare, () => new Error('the hashing thread has ended', { cause: failure }), route)
    },
  }
}

/** Hashes independent byte streams. */
export function plainHashThread(): HashThread<null> {
  return createHashThread(new URL('./hash-worker.ts', import.meta.url))
}

function feed(port: MessagePort, spare: Piece[], ended: () => Error, route?: PieceRoute): ThreadHash {
  const answers: unknown[] = []
  /** Pieces that were sent and not yet returned. */
  let waiting = 0
  let isOpen = true
  let current: Piece | null = null
  let filled = 0
  /** Callbacks that wait for a state change. */
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
    current = null
    filled = 0
    waiting++
    pass(piece)
  }

  async function answer(): Promise<unknown> {
    await until(() => answers.length > 0)
    return answers.shift()
  }

  return {
    write(chunk) {
      for (let at = 0; at < chunk.length; ) {
        current ??= newPiece()
        const part = chunk.subarray(at, at + current.length - filled)
        current.set(part, filled)
        filled += part.length
        at += part.length
        if (filled === current.length) send(current)
      }
    },
    async writeFrom(readInto) {
      const piece = Buffer.from(newPiece().buffer)
      const length = await readInto(piece)
      if (length > 0) send(piece.subarray(0, length))
      return length
    },
    isFull: () => waiting >= MAX_WAITING,
    drained: () => until(() => waiting < MAX_WAITING),
    pass,
    recycle,
    sendMessage(message) {
      if (current) send(current.subarray(0, filled))
      port.postMessage(message)
    },
    answer,
    async end() {
      if (current) send(current.subarray(0, filled))
      port.postMessage(null)
      return String(await answer())
    },
    close: () => port.close(),
  }
}
