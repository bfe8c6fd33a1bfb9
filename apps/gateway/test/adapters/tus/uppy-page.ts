// Runs in a web page and uploads with Uppy, as pages of any origin may.

import Uppy from '@uppy/core'
import Tus from '@uppy/tus'

interface Task {
  endpoint: string
  headers: Record<string, string>
  size: number
}

/** Uploads repeating bytes, so that the test can compute their hash. */
export async function upload({ endpoint, headers, size }: Task): Promise<Record<string, unknown>> {
  const hashes: (string | null)[] = []
  const uppy = new Uppy().use(Tus, {
    endpoint,
    headers,
    retryDelays: [0, 100, 200],
    chunkSize: 1_000_000,
    onAfterResponse: (_, response) => void hashes.push(response.getHeader('Svc-Content-Hash') ?? null),
  })
  const data = new Blob([new Uint8Array(size).fill(7)], { type: 'image/x-test' })
  uppy.addFile({ name: 'from-page.bin', type: 'image/x-test', data })
  const result = await uppy.upload()
  return {
    successful: result?.successful?.length,
    failed: result?.failed?.map(({ error }) => String(error)),
    hash: hashes.at(-1),
  }
}
