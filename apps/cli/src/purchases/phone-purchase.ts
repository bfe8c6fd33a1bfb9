// What this machine knows of a purchase that a wallet on a phone pays.

import type { PaymentLeg } from '@svc/api/quote'
import { type Journal, type JournalEntry, journalEntry } from '@svc/sdk'

/** What must be known to find a payment after an interruption. */
export interface AskedPayment {
  leg: PaymentLeg
  /** What the QR code says. */
  url: string
  expires_at: string
}

export interface PhonePurchase {
  /** The order as on a command line. */
  order: string
  /** All payments that were asked for, oldest first: each of them may have been paid. */
  asked: AskedPayment[]
}

/** The unfinished purchase of this name, or of this order where it has no name. */
export function phonePurchase(journal: Journal, gateway: string, name: string): JournalEntry<PhonePurchase> {
  return journalEntry(journal, `phone purchase ${gateway} ${name}`)
}

export function resumeCommand({ order }: PhonePurchase, name: string): string {
  return `\`svc buy --qr --name ${JSON.stringify(name)} ${order}\``
}
