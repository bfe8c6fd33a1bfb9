// The witness of `npm start`: the gateway asks it for cosignatures, and it knows the gateway's log.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogState } from '@svc/api/log'
import { formatKey } from '@svc/protocol/transparency/note'
import type { Variables } from '@svc/service/program/config'
import { readConfig } from '@svc/witness/config'
import { witnessKey } from '@svc/witness/create-context'
import { startWitness } from '@svc/witness/start-witness'

export interface OwnWitness {
  url: string
  /** A policy for the gateway: the cosignature of this witness is enough. */
  policyFile: string
  /** Resolves to a function that stops it. */
  start(): Promise<() => Promise<void>>
  /** Adds the log of a running gateway. */
  follow(gatewayUrl: string): Promise<void>
}

/** It uses the gateway's settings, except those that each service must have for itself. */
export function prepareWitness(variables: Variables, place: { dataDir: string; port: number }): OwnWitness {
  const { BASE_URL, WITNESS_LOGS_FILE, ...shared } = variables
  const dataDir = join(place.dataDir, 'witness')
  const { config, secrets } = readConfig({ ...shared, DATA_DIR: dataDir, PORT: String(place.port) })
  const { baseUrl } = config.http
  const policyFile = join(dataDir, 'policy.txt')
  const key = formatKey(witnessKey(config, secrets))
  writeFileSync(policyFile, `witness ${config.name} ${key} ${baseUrl}\nquorum ${config.name}\n`)
  // The log is not known before the gateway runs.
  writeFileSync(config.logsFile, '', { flag: 'a' })
  return {
    url: baseUrl,
    policyFile,
    start: async () => (await startWitness(config, secrets)).stop,
    async follow(gatewayUrl) {
      const { vkey, url } = (await (await fetch(`${gatewayUrl}/v1/log`)).json()) as LogState
      writeFileSync(config.logsFile, `log ${vkey} ${url}\n`)
    },
  }
}
