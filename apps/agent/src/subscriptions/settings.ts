import { readSalesConfig, type SalesConfig, type SalesSecrets, usd } from '@svc/payments/selling/settings'
import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface PaymentSettings extends SalesConfig {
  /** The price of thirty days. */
  subscriptionUsd: string
}

export function readPaymentSettings(settings: SettingsReader, mode: Mode): [PaymentSettings, SalesSecrets] {
  const [sales, secrets] = readSalesConfig(settings, mode === 'production')
  return [{ ...sales, subscriptionUsd: usd(settings, 'SUBSCRIPTION_USD') }, secrets]
}
