// Finds the local services that run when the gateway of `npm start` does not answer.

import { createConnection } from 'node:net'
import { NoAnswer, networkErrorCode } from '@svc/sdk/errors'
import { isPrivateHost, LOCAL_SERVICES } from '@svc/sdk/local-services'

const TIMEOUT_MS = 300
const START_ONE =
  '`npm start` in a clone of the repository starts a gateway; to use another one: --gateway, SVC_GATEWAY or `svc config set gateway URL`'

/** Advice for a closed port of this machine or its network; null for other errors. */
export async function localHint(error: unknown, services = LOCAL_SERVICES): Promise<string | null> {
  if (!(error instanceof NoAnswer) || error.url === null || !isPrivateHost(error.url)) return null
  if (networkErrorCode(error) !== 'ECONNREFUSED') return null
  const asked = new URL(error.url).port
  const others = services.filter(({ url }) => new URL(url).port !== asked)
  const listening = (await Promise.all(others.map(async (one) => ((await isListening(one.url)) ? [one] : [])))).flat()
  const gateway = listening.find(({ name }) => name === 'the gateway')
  if (gateway && error.service === 'gateway') return `a service listens at ${gateway.url}: try --gateway ${gateway.url}`
  if (listening.length === 0) return error.service === 'gateway' ? START_ONE : null
  const list = listening.map(({ name, url }) => `${name} (${new URL(url).port})`).join(', ')
  return `these ports of \`npm start\` are in use: ${list}. It may still be starting, or have another PORT: it prints its addresses`
}

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port), timeout: TIMEOUT_MS })
    const end = (isOpen: boolean) => () => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', end(true)).on('timeout', end(false)).on('error', end(false))
  })
}
