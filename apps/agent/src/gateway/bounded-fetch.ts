/** Of what is read at once. A page of a thousand files with the longest names is below it. */
const MAX_BYTES = 32 * 1024 * 1024

/** Where files are; they are read piece by piece. */
const FILES = /^\/f\//

/** As fetch; but of an answer that would have to be held whole, no more is taken than a gateway in its senses sends. */
export function boundedFetch(onAnswer: (status: number) => void): typeof globalThis.fetch {
  return async (target, init) => {
    const response = await fetch(target, init)
    onAnswer(response.status)
    const isStreamed = response.ok && FILES.test(new URL(target as string).pathname)
    return isStreamed ? response : bounded(response)
  }
}

function bounded(response: Response): Response {
  if (!response.body) return response
  let received = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += chunk.length
      if (received > MAX_BYTES) throw new RangeError(`an answer has more than ${MAX_BYTES} bytes`)
      controller.enqueue(chunk)
    },
  })
  const { status, headers } = response
  return new Response(response.body.pipeThrough(limit), { status, headers })
}
