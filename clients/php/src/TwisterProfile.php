<?php

declare(strict_types=1);

namespace Offbeat;

/** The Mersenne twister that Placement::Twister equals. */
enum TwisterProfile: string
{
    /** Random.new(id).rand(limit) of Ruby 3.2 and later: the default. */
    case Ruby = 'ruby';

    /** The same for Ruby 3.0 and 3.1, which differ for some large IDs. */
    case Ruby30To31 = 'ruby_3_0_to_3_1';

    /** random.Random(id).randrange(limit) of Python 3.2 and later. */
    case Python = 'python';

    /** mt_srand(id mod 2^32); mt_rand(0, limit - 1) of PHP 8.2 and later. */
    case Php = 'php';

    /** @internal */
    public function toMessage(): int
    {
        return match ($this) {
            self::Ruby => V1\TwisterProfile::TWISTER_PROFILE_RUBY,
            self::Ruby30To31 => V1\TwisterProfile::TWISTER_PROFILE_RUBY_3_0_TO_3_1,
            self::Python => V1\TwisterProfile::TWISTER_PROFILE_PYTHON,
            self::Php => V1\TwisterProfile::TWISTER_PROFILE_PHP,
        };
    }
}
