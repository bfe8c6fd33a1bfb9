// The record on this machine of a purchase that a phone wallet pays for.

import type { PaymentLeg } from '@svc/api/quote'
import { type Journal, type JournalEntry, journalEntry } from '@svc/sdk'

/** The data that finds a payment after an interruption. */
export interface RequestedPayment {
  leg: PaymentLeg
  /** The content of the QR code. */
  url: string
  expires_at: string
}

export interface PhonePurchase {
  /** The order as on a command line. */
  order: string
  /** All requested payments, oldest first: each of them may have been made. */
  asked: RequestedPayment[]
}

/** The unfinished purchase with this name, or with this order if it has no name. */
export function phonePurchase(journal: Journal, gateway: string, name: string): JournalEntry<PhonePurchase> {
  return journalEntry(journal, `phone purchase ${gateway} ${name}`)
}

export function resumeCommand({ order }: PhonePurchase, name: string): string {
  return `\`svc buy --qr --name ${JSON.stringify(name)} ${order}\``
}
