import type { Terms } from '@svc/api/purchases'
import { bytesText, counted } from './quantities.ts'

/** `1.00 GiB, 1,000 files, 365 days` */
export function termsText({ storage_limit_bytes, file_limit, ttl_days }: Terms): string {
  return [bytesText(storage_limit_bytes), counted(file_limit, 'file'), counted(ttl_days, 'day')].join(', ')
}
