import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'

it('an agent uses the proxy of the process, for http and for https', async () => {
  const seen: string[] = []
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end('by the proxy')
  })
  proxy.on('connect', (request, socket) => {
    seen.push(`${request.method} ${request.url}`)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` // a listening TCP server has one
  const program = new URL('../programs/ask-through-proxy.ts', import.meta.url)
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, HTTPS_PROXY: address }
  const args = ['http://store.example/bucket', 'https://store.example/bucket']
  const { stdout } = await startProcess(program, { args, env }).ended
  expect(stdout.trim().split('\n')).toEqual(['by the proxy', 'the storage provider is unavailable'])
  expect(seen).toEqual(['GET http://store.example/bucket', 'CONNECT store.example:443'])
})
