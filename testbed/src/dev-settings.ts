// Settings of the development environment, beside the gateway's own.

import { SettingsReader, type Variables } from '@svc/http-service/config'

export interface DevSettings {
  primaryRpcPort: number
  evmRpcPort: number
}

export function readDevSettings(variables: Variables): { dev: DevSettings; asked: Map<string, string> } {
  const settings = new SettingsReader(variables)
  const port = { min: 0, max: 65_535 }
  const dev = {
    primaryRpcPort: settings.integer('DEV_PRIMARY_RPC_PORT', 8899, port),
    evmRpcPort: settings.integer('DEV_EVM_RPC_PORT', 8545, port),
  }
  settings.done()
  return { dev, asked: settings.asked }
}
