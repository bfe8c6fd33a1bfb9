// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The newest attested Merkle root of every receipt of one gateway.
/// @notice A key is the first 16 bytes of keccak-256 of a receipt id. The holder of a receipt can find its entry;
/// the entries do not reveal receipt ids.
contract SvcMerkleRegistry {
    /// Two words of storage. The root of an entry is never zero: a zero root means that the key has no entry.
    struct Entry {
        bytes32 root;
        uint64 slot;
        uint64 attestedAt;
        uint32 fileCount;
    }

    address public owner;
    address public pendingOwner;
    mapping(bytes16 key => Entry) private entries;

    event MerkleAnchored(bytes16 indexed key, bytes32 root, uint64 slot, uint32 fileCount, uint64 attestedAt);
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    error NotOwner();
    error NotPendingOwner();
    error ZeroRoot();
    error OlderEntry();

    constructor() {
        owner = msg.sender;
        emit OwnershipTransferred(address(0), msg.sender);
    }

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    /// @notice Writes the newest attestation of a receipt. Writing the same entry again changes nothing.
    /// @param slot The slot of the statement on the primary chain. It orders statements of the same second.
    /// @param attestedAt Unix seconds.
    function anchorMerkle(bytes16 key, bytes32 root, uint64 slot, uint32 fileCount, uint64 attestedAt)
        external
        onlyOwner
    {
        if (root == 0) revert ZeroRoot();
        Entry storage entry = entries[key];
        (uint64 storedSlot, uint64 storedAt) = (entry.slot, entry.attestedAt);
        // A late transaction must not replace a newer statement by an older one.
        if (attestedAt < storedAt || (attestedAt == storedAt && slot < storedSlot)) revert OlderEntry();
        bool isSame = attestedAt == storedAt && slot == storedSlot && fileCount == entry.fileCount
            && root == entry.root;
        if (isSame) return;
        entries[key] = Entry(root, slot, attestedAt, fileCount);
        emit MerkleAnchored(key, root, slot, fileCount, attestedAt);
    }

    /// @notice The newest attestation of a receipt; zeros if there is none.
    function verifyMerkle(bytes16 key)
        external
        view
        returns (bytes32 root, uint64 slot, uint32 fileCount, uint64 attestedAt)
    {
        Entry storage entry = entries[key];
        return (entry.root, entry.slot, entry.fileCount, entry.attestedAt);
    }

    /// @notice Offers the registry to another account, which must accept it; the zero address withdraws an offer.
    function transferOwnership(address newOwner) external onlyOwner {
        pendingOwner = newOwner;
        emit OwnershipTransferStarted(owner, newOwner);
    }

    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotPendingOwner();
        emit OwnershipTransferred(owner, msg.sender);
        owner = msg.sender;
        delete pendingOwner;
    }
}
