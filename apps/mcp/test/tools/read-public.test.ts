import { expect, it } from 'vitest'
import { readPublic } from '../../src/tools/read-public.ts'

const { signal } = new AbortController()

it.each([
  'https://localhost:9/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://192.0.2.1/',
  'https://[2001:db8::1]/',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://user:password@example.com/',
  'http://example.com/',
])('T-08 %s is refused before anything is sent', async (url) => {
  await expect(readPublic(new URL(url), signal)).rejects.toThrow('not a public https address')
})
