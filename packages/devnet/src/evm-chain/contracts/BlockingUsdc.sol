// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "./Usdc.sol";

/// USDC whose issuer pauses it or blocks accounts, with the error texts of Circle's FiatTokenV2_2. Anyone may act as the issuer.
contract BlockingUsdc is Usdc {
    bool public paused;
    mapping(address => bool) public isBlacklisted;

    function pause() external {
        paused = true;
    }

    function unpause() external {
        paused = false;
    }

    function blacklist(address account) external {
        isBlacklisted[account] = true;
    }

    function unBlacklist(address account) external {
        isBlacklisted[account] = false;
    }

    function _transfer(address from, address to, uint256 value) internal override {
        require(!paused, "Pausable: paused");
        require(!isBlacklisted[from] && !isBlacklisted[to], "Blacklistable: account is blacklisted");
        super._transfer(from, to, value);
    }
}
