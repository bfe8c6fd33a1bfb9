import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { chromium } from 'playwright'
import { build } from 'vite'
import { expect, it, onTestFinished } from 'vitest'
import { chromiumPath } from '../../../../../scripts/chromium.ts'
import { listed, publicBytes } from '../http/sessions/sessions.ts'
import { sha256 } from '../http/transfers.ts'
import { openSwitchableProxy } from './switchable-proxy.ts'
import { tusToken } from './uploads.ts'

declare const page: typeof import('./uppy-page.ts')

async function bundled(): Promise<string> {
  const entry = fileURLToPath(new URL('uppy-page.ts', import.meta.url))
  const lib = { entry, formats: ['iife' as const], name: 'page', fileName: 'page' }
  const define = { 'process.env.NODE_ENV': '"production"' }
  const built = await build({ configFile: false, logLevel: 'silent', define, build: { write: false, lib } })
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }] // one format, one chunk
  return output[0].code
}

/** A page of another origin than the gateway. */
async function openPage() {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
  const browser = await chromium.launch({ executablePath: chromiumPath(), args })
  onTestFinished(async () => {
    await browser.close()
    server.close()
  })
  const opened = await browser.newPage()
  await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return opened
}

it('ADD-46 Uppy uploads from a page of another origin, and reads the hash of the file', {
  tags: ['nightly'],
}, async () => {
  const tab = await openPage()
  const proxy = await openSwitchableProxy()
  const instance = await openTestGateway({ BASE_URL: proxy.url })
  proxy.target = instance.gateway.url
  onTestFinished(async () => {
    await instance.close()
    proxy.close()
  })
  const locker = await instance.locker(ed25519Identity())
  await tab.addScriptTag({ content: await bundled() })
  const task = {
    endpoint: `${proxy.url}/v1/lockers/${locker.lockerId}/tus`,
    headers: { 'X-Upload-Token': await tusToken(locker) },
    size: 2_500_000,
  }
  const bytes = Buffer.alloc(task.size, 7)
  const uploaded = { successful: 1, failed: [], hash: `sha256:${sha256(bytes)}` }
  expect(await tab.evaluate((given) => page.upload(given), task)).toEqual(uploaded)
  expect(await listed(locker, 'from-page.bin')).toMatchObject({ content_type: 'image/x-test', status: 'confirmed' })
  expect(await publicBytes(instance, locker, 'from-page.bin')).toEqual(bytes)
})
