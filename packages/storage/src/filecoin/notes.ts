/** What is known of an object on its way. Each is noted before the next step begins. */
export interface Notes {
  /** The content id of its piece. */
  piece: string
  /** Bytes are sent to it, or were. */
  upload?: { id: string; isWhole: boolean }
  /** The provider was told to add the piece; with the transaction, once it answered. */
  commit?: { sentAt: number; dataSet: string; transaction: string | null }
}
