// Settings of the development environment, in addition to the gateway's.

import { accessSync, constants } from 'node:fs'
import { SettingsReader, type Variables } from '@svc/service/program/config'

export interface DevSettings {
  primaryRpcPort: number
  /** Where stock clients of the default port look for websockets; 0 for none besides the RPC port itself. */
  primaryWebSocketPort: number
  evmRpcPort: number
  agentPort: number
  witnessPort: number
  /** The database of the agent service; empty for the one in its data folder. */
  agentDatabaseUrl: string
  /** File with the real program of the attestation registry; without it the primary chain uses a stand-in. */
  registryProgram?: string
}

const DEFAULT_RPC_PORT = 8899

export function readDevSettings(variables: Variables): { dev: DevSettings; asked: Map<string, string> } {
  const settings = new SettingsReader(variables)
  const port = { min: 0, max: 65_535 }
  const registryProgram = readableFile(settings, 'DEV_SAS_PROGRAM_SO')
  const primaryRpcPort = settings.integer('DEV_PRIMARY_RPC_PORT', DEFAULT_RPC_PORT, port)
  const webSockets = primaryRpcPort === DEFAULT_RPC_PORT ? DEFAULT_RPC_PORT + 1 : 0
  const dev = {
    primaryRpcPort,
    primaryWebSocketPort: settings.integer('DEV_PRIMARY_WEBSOCKET_PORT', webSockets, port),
    evmRpcPort: settings.integer('DEV_EVM_RPC_PORT', 8545, port),
    agentPort: settings.integer('AGENT_PORT', 8403, port),
    witnessPort: settings.integer('WITNESS_PORT', 8404, port),
    agentDatabaseUrl: settings.text('AGENT_DATABASE_URL'),
    ...(registryProgram && { registryProgram }),
  }
  settings.done()
  return { dev, asked: settings.asked }
}

function readableFile(settings: SettingsReader, variable: string): string {
  const file = settings.text(variable)
  try {
    if (file) accessSync(file, constants.R_OK)
  } catch (error) {
    settings.problem(`${variable} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  return file
}
