/** More than a page of a thousand files with the longest names. */
const MAX_BYTES = 32 * 1024 * 1024

/** File contents, which are read as a stream. */
const FILES = /^\/f\//

/** Like fetch, but limits the size of responses that are not streamed. */
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
      if (received > MAX_BYTES) throw new RangeError(`the response has more than ${MAX_BYTES} bytes`)
      controller.enqueue(chunk)
    },
  })
  const { status, headers } = response
  return new Response(response.body.pipeThrough(limit), { status, headers })
}
