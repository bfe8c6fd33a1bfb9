# Pays a leg of a quote on a Solana-family chain with openssl and curl: source this file after envelope.sh.
#
#   KEY  the key that pays, and owns what it buys
#   RPC  a node of the chain

SYSTEM_PROGRAM=11111111111111111111111111111111
TOKEN_PROGRAM=TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
MEMO_PROGRAM=MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr

# rpc METHOD PARAMS: one call of JSON-RPC
rpc() {
  curl -sS "$RPC" -H 'Content-Type: application/json' \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":$2}"
}

# key32 ADDRESS: its 32 bytes as hex
key32() { printf '%64s' "$(rebase "$1" "$BASE58" "$HEX")" | tr ' ' 0; }
# u64 NUMBER: eight bytes, the lowest first
u64() { printf '%016x' "$1" | sed -E 's/(..)(..)(..)(..)(..)(..)(..)(..)/\8\7\6\5\4\3\2\1/'; }
u8() { printf '%02x' "$1"; }

# memo_instruction PROGRAM-INDEX TEXT: no accounts, the text as data
memo_instruction() { printf '%s00%s%s' "$(u8 "$1")" "$(u8 "${#2}")" "$(printf %s "$2" | hex)"; }

# send_transaction READONLY ACCOUNTS INSTRUCTIONS: two instructions; the payer is the first account and the only signer,
# the last READONLY accounts are not written to. Prints the id of the transaction.
send_transaction() {
  local blockhash message signature count=$((${#2} / 64))
  blockhash=$(rpc getLatestBlockhash '[{"commitment":"confirmed"}]' | field blockhash)
  message=0100$(u8 "$1")$(u8 "$count")$2$(key32 "$blockhash")02$3
  signature=$(printf %s "$message" | unhex | sign)
  rpc sendTransaction "[\"$(printf '01%s%s' "$signature" "$message" | unhex | openssl base64 -A)\",{\"encoding\":\"base64\",\"preflightCommitment\":\"confirmed\"}]" | field result
}

# pay_coin PAY_TO AMOUNT REFERENCE: a transfer of the system program, then the memo
pay_coin() {
  local accounts && accounts=$(public_key)$(key32 "$1")$(key32 $SYSTEM_PROGRAM)$(key32 $MEMO_PROGRAM)
  send_transaction 2 "$accounts" "020200010c02000000$(u64 "$2")$(memo_instruction 3 "$3")"
}

# pay_token PAY_TO AMOUNT REFERENCE MINT DECIMALS: TransferChecked from our token account, then the memo
pay_token() {
  local source accounts
  source=$(rpc getTokenAccountsByOwner "[\"$(address)\",{\"mint\":\"$4\"},{\"encoding\":\"base64\",\"commitment\":\"processed\"}]" | field pubkey)
  accounts=$(public_key)$(key32 "$source")$(key32 "$1")$(key32 "$4")$(key32 $TOKEN_PROGRAM)$(key32 $MEMO_PROGRAM)
  send_transaction 3 "$accounts" "0404010302000a0c$(u64 "$2")$(u8 "$5")$(memo_instruction 5 "$3")"
}
