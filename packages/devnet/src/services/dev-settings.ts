// Settings of the development environment, in addition to the gateway's.

import { accessSync, constants } from 'node:fs'
import { type Settings, SettingsReader, type Variables } from '@svc/service/program/config'

export interface DevSettings {
  primaryRpcPort: number
  /** Stock clients of the default RPC port look for websockets here; 0 opens no second port. */
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

/** Only for `npm start`. `npm run docs` writes `.env.example` of this package from this table. */
export const DEV_SETTINGS: Settings = {
  DEV_PRIMARY_RPC_PORT: {
    group: 'should look at',
    default: String(DEFAULT_RPC_PORT),
    help: "Port of the local primary chain's JSON-RPC",
  },
  DEV_PRIMARY_WEBSOCKET_PORT: {
    group: 'should look at',
    help: 'A second port for its websockets, where stock clients look for them; 0 for none; when empty, 8900 if the RPC port is 8899',
  },
  DEV_EVM_RPC_PORT: { group: 'should look at', default: '8545', help: "Port of the local EVM chain's JSON-RPC" },
  DEV_SAS_PROGRAM_SO: {
    group: 'tuning',
    help: "A binary of the attestation registry's program, in place of the stand-in",
  },
  AGENT_PORT: {
    group: 'should look at',
    default: '8403',
    help: 'Port of the agent service, whose other settings are in apps/agent/.env.example',
  },
  WITNESS_PORT: {
    group: 'should look at',
    default: '8404',
    help: 'Port of the witness, whose other settings are in apps/witness/.env.example',
  },
  AGENT_DATABASE_URL: {
    group: 'tuning',
    isSecret: true,
    help: 'Database of the agent service; without it an embedded one in its folder, agent in DATA_DIR',
  },
}

export function readDevSettings(variables: Variables): { dev: DevSettings; namesRead: ReadonlySet<string> } {
  const settings = new SettingsReader(variables, DEV_SETTINGS)
  const port = { min: 0, max: 65_535 }
  const registryProgram = readableFile(settings, 'DEV_SAS_PROGRAM_SO')
  const primaryRpcPort = settings.integer('DEV_PRIMARY_RPC_PORT', port)
  const hasWebSockets = settings.text('DEV_PRIMARY_WEBSOCKET_PORT') !== ''
  const webSockets = primaryRpcPort === DEFAULT_RPC_PORT ? DEFAULT_RPC_PORT + 1 : 0
  const dev = {
    primaryRpcPort,
    primaryWebSocketPort: hasWebSockets ? settings.integer('DEV_PRIMARY_WEBSOCKET_PORT', port) : webSockets,
    evmRpcPort: settings.integer('DEV_EVM_RPC_PORT', port),
    agentPort: settings.integer('AGENT_PORT', port),
    witnessPort: settings.integer('WITNESS_PORT', port),
    agentDatabaseUrl: settings.text('AGENT_DATABASE_URL'),
    ...(registryProgram && { registryProgram }),
  }
  settings.done()
  return { dev, namesRead: settings.namesRead }
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
