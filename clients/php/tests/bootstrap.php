<?php

declare(strict_types=1);

error_reporting(E_ALL);
require __DIR__ . '/../autoload.php';
require __DIR__ . '/Certificates.php';
require __DIR__ . '/Process.php';
require __DIR__ . '/Sidecar.php';
require __DIR__ . '/OffbeatTestCase.php';
require __DIR__ . '/NamedSpreadTestCase.php';
require __DIR__ . '/FlakyTransport.php';
require __DIR__ . '/PrometheusStandIn.php';
foreach (['Draw', 'Schedules', 'DueQuestions', 'Questions'] as $random) {
    require __DIR__ . "/Random/$random.php";
}
