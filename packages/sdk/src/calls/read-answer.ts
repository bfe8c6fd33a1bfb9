// Reads the body of an answer into memory, with limits against services that send endlessly or too slowly.

import { readAtMost, TooManyBytes } from '@svc/protocol/read-at-most'

/** The maximum length of a string in JavaScript engines. */
const MAX_BYTES = 2 ** 29 - 24
const DEADLINE_MS = 600_000

/** The answer exceeds its maximum length or time. */
export class EndlessAnswer extends Error {
  override name = 'EndlessAnswer'
}

export interface AnswerLimits {
  maxBytes?: number
  /** From the head of the answer to its end. */
  deadlineMs?: number
}

export async function readAnswer({ body }: Response, limits: AnswerLimits = {}): Promise<Uint8Array<ArrayBuffer>> {
  const { maxBytes = MAX_BYTES, deadlineMs = DEADLINE_MS } = limits
  if (!body) return new Uint8Array()
  try {
    return await readAtMost(maxBytes, untilDeadline(body, deadlineMs))
  } catch (error) {
    throw error instanceof TooManyBytes ? new EndlessAnswer(`the answer has ${error.message}`) : error
  }
}

export async function readJsonAnswer(response: Response, limits?: AnswerLimits): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await readAnswer(response, limits)))
}

async function* untilDeadline(body: ReadableStream<Uint8Array>, deadlineMs: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const cancel = () => reader.cancel().catch(() => {})
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void cancel()
  }, deadlineMs)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate) throw new EndlessAnswer(`the answer did not end within ${deadlineMs / 1000} s`)
      if (done) return
      yield value
    }
  } finally {
    clearTimeout(timer)
    await cancel()
  }
}
